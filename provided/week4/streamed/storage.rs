//! Day 7. The slow device.

/// A device that has the file: an SD card, a disk, a piece of memory.
pub trait Storage {
    /// Bytes that it has.
    fn len(&self) -> u64;

    /// Whether it has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads into `out`, from byte `at` on: at least one byte unless the file ends there, and at
    /// most all of `out`. Returns how many bytes it read.
    ///
    /// # Errors
    /// The device's own number for what went wrong.
    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<usize, i32>;
}

impl Storage for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<usize, i32> {
        let rest = &self[<[u8]>::len(self).min(at as usize)..];
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// What was requested from the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pieces that were requested.
    pub reads: u64,
    /// Those that did not begin where the previous one had ended.
    pub seeks: u64,
    /// Bytes of them all.
    pub bytes: u64,
}

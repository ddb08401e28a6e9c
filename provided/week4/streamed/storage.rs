//! Day 7. The slow device that holds the model's file.

/// A device that holds the file: an SD card, a disk, a part of memory.
pub trait Storage {
    /// Returns the number of bytes on the device.
    fn len(&self) -> u64;

    /// Returns whether the device is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads bytes from the device into `out`, beginning at the device's offset `at`. May read
    /// fewer bytes than `out` has room for. Reads at least one byte, unless the file ends at or
    /// before `at`. Returns the number of bytes read.
    ///
    /// # Errors
    /// Returns the device's own error code.
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

/// Counters of reads from the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of reads.
    pub reads: u64,
    /// Number of reads that didn't begin where the previous one ended.
    pub seeks: u64,
    /// Number of bytes in all reads.
    pub bytes: u64,
}

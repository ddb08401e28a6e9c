//! Writes a GGUF file to the disk.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Write},
    path::Path,
};

use anyhow::{Result, ensure};
use tiny_llm_formats::{
    gguf::TensorInfo,
    unfinished::{Unfinished, cannot_be_written, named},
};

/// Writes a file from front to back: first `head`, then the data of one tensor after the other.
/// After each tensor, writes zeros up to a multiple of `alignment`. `write(i, out)` appends the
/// data of tensor `i` to `out`. The data is never in memory all at once. The file has a temporary
/// name until it is complete.
///
/// # Errors
/// If the file can't be written, `write` returns an error, or `write` appends a different number of
/// bytes than `tensors` says.
pub fn write_file(
    path: &Path,
    head: &[u8],
    tensors: &[TensorInfo],
    alignment: usize,
    mut write: impl FnMut(usize, &mut dyn Write) -> Result<()>,
) -> Result<()> {
    let wrong = |e: &io::Error| cannot_be_written(path, e);
    let unfinished = Unfinished::new(path)?;
    let file = File::create(unfinished.path()).map_err(|e| wrong(&e))?;
    let mut out = Counted { out: BufWriter::with_capacity(1 << 20, file), written: 0 };
    out.write_all(head).map_err(|e| wrong(&e))?;
    for (i, tensor) in tensors.iter().enumerate() {
        let start = out.written;
        write(i, &mut out).map_err(|e| named(path, e))?;
        let size = out.written - start;
        ensure!(
            size == tensor.size,
            "{}: tensor {}: wrote {size} bytes, expected {}",
            path.display(),
            tensor.name,
            tensor.size
        );
        // The last tensor is padded too: readers expect the data section's size to be a multiple of
        // the alignment.
        let padding = size.next_multiple_of(alignment) - size;
        io::copy(&mut io::repeat(0).take(padding as u64), &mut out).map_err(|e| wrong(&e))?;
    }
    let file = out.out.into_inner().map_err(|e| wrong(e.error()))?;
    file.sync_all().map_err(|e| wrong(&e))?;
    drop(file);
    unfinished.finish()
}

/// A buffered file, and the number of bytes written to it.
struct Counted {
    out: BufWriter<File>,
    written: usize,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.written += n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

//! Buffers, uploads and downloads.

use anyhow::{Context, Error, Result, ensure};
use wgpu::{BufferDescriptor, BufferUsages, MapMode};

use crate::{Gpu, OutOfMemory};

/// Memory on the device (Metal: `MTLBuffer`).
#[derive(Debug, Clone)]
pub struct Buffer {
    pub(crate) inner: wgpu::Buffer,
    /// Offset in bytes of this buffer in the device's buffer. 0 unless this is a part of a longer
    /// buffer.
    pub(crate) offset: usize,
    /// Size in bytes, as requested. The device's buffer is padded to a multiple of 4 bytes.
    bytes: usize,
}

impl Buffer {
    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the part of `bytes` bytes that begins at `offset`, a multiple of [`ALIGNMENT`].
    ///
    /// # Errors
    /// If `offset` is not such a multiple, or the part is not within the buffer.
    pub fn part(&self, offset: usize, bytes: usize) -> Result<Self> {
        let end = offset.checked_add(bytes);
        ensure!(
            offset.is_multiple_of(ALIGNMENT) && end.is_some_and(|end| end <= self.bytes),
            "found {bytes} bytes at offset {offset}, expected an offset that is a multiple of \
             {ALIGNMENT}, and a range within the buffer's {} bytes",
            self.bytes
        );
        Ok(Self { inner: self.inner.clone(), offset: self.offset + offset, bytes })
    }
}

/// A part of a buffer must begin at a multiple of this number of bytes, on every device.
pub const ALIGNMENT: usize = 256;

/// Returns the bytes of `numbers`, for an upload.
pub fn bytes_of(numbers: &[f32]) -> &[u8] {
    bytemuck::cast_slice(numbers)
}

impl Gpu {
    /// Allocates a buffer of `bytes` bytes, all 0.
    ///
    /// # Errors
    /// If the buffer is too long for a kernel of this device, or memory is insufficient.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer> {
        let size = (bytes.max(4) as u64).next_multiple_of(4);
        if size > self.about().buffer_bytes {
            let longest = self.about().buffer_bytes;
            let why = format!("{}: a buffer has at most {longest} bytes", self.about());
            return Err(Error::new(OutOfMemory { wanted: bytes }).context(why));
        }
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let descriptor = BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let inner =
            self.allocating("a buffer", bytes, || self.device.create_buffer(&descriptor))?;
        self.look().with_context(|| format!("a buffer of {bytes} bytes"))?;
        Ok(Buffer { inner, offset: 0, bytes })
    }

    /// Allocates a buffer and writes `bytes` to it, padded with zeros to a multiple of 4 bytes.
    ///
    /// # Errors
    /// If [`Gpu::buffer`] or [`Gpu::write`] fails.
    pub fn upload(&self, bytes: &[u8]) -> Result<Buffer> {
        let buffer = self.buffer(bytes.len())?;
        self.write(&buffer, bytes)?;
        Ok(buffer)
    }

    /// Overwrites the beginning of `buffer` with `bytes`. If their number is not a multiple of 4,
    /// the next 1 to 3 bytes of the buffer become 0. Takes effect before all later submissions.
    ///
    /// # Errors
    /// If the buffer is shorter than `bytes`, or the device is lost.
    pub fn write(&self, buffer: &Buffer, bytes: &[u8]) -> Result<()> {
        ensure!(
            bytes.len() <= buffer.bytes,
            "found {} bytes, expected at most {}, the buffer's length",
            bytes.len(),
            buffer.bytes
        );
        let whole = bytes.len() / 4 * 4;
        let mut rest = [0; 4];
        rest[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
        self.scoped("bytes for a buffer", || {
            let start = buffer.offset as u64;
            self.queue.write_buffer(&buffer.inner, start, &bytes[..whole]);
            if whole < bytes.len() {
                self.queue.write_buffer(&buffer.inner, start + whole as u64, &rest);
            }
        })
    }

    /// Waits for all submitted work, and returns the contents of a buffer.
    ///
    /// # Errors
    /// If the device is lost, or a kernel does not end in time.
    pub fn download(&self, buffer: &Buffer) -> Result<Vec<u8>> {
        let size = (buffer.bytes.max(4) as u64).next_multiple_of(4);
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let descriptor = BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        // The CPU can't map a kernel's buffer, so its contents are copied to a buffer that the CPU
        // can map.
        let copy = self.scoped("bytes of a buffer", || {
            let copy = self.device.create_buffer(&descriptor);
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&buffer.inner, buffer.offset as u64, &copy, 0, size);
            self.queue.submit([encoder.finish()]);
            copy.map_async(MapMode::Read, .., |_| {});
            copy
        })?;
        self.wait()?;
        let view = copy.get_mapped_range(..).context("bytes of a buffer")?;
        Ok(view[..buffer.bytes].to_vec())
    }

    /// Downloads a buffer as f32 numbers.
    ///
    /// # Errors
    /// If [`Gpu::download`] fails.
    pub fn numbers(&self, buffer: &Buffer) -> Result<Vec<f32>> {
        Ok(bytemuck::pod_collect_to_vec(&self.download(buffer)?))
    }
}

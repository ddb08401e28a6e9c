//! Day 1. A tensor: bytes, and a layout that says where each element is.

use anyhow::{Result, ensure};

use crate::week2::blocks::dequantize_row;
use crate::week4::layout::{AXES, Layout};

/// A tensor whose bytes are borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Strided<'a> {
    /// The offset of each element in the bytes, and the elements' type.
    pub layout: Layout,
    bytes: &'a [u8],
}

impl<'a> Strided<'a> {
    /// Creates a tensor with this layout over these bytes.
    ///
    /// # Errors
    /// If there are too few bytes.
    pub fn new(layout: Layout, bytes: &'a [u8]) -> Result<Self> {
        let (end, len) = (layout.end(), bytes.len());
        ensure!(end <= len, "{layout}: found {len} bytes, expected {end}");
        Ok(Self { layout, bytes })
    }

    /// Returns a tensor with the same bytes and another layout.
    ///
    /// # Errors
    /// If the layout extends past the end of the bytes.
    pub fn with(&self, layout: Layout) -> Result<Self> {
        Self::new(layout, self.bytes)
    }

    /// Returns the bytes of the block that holds the element at `index`.
    ///
    /// # Panics
    /// If an index is beyond its axis.
    #[must_use]
    pub fn block(&self, index: [usize; AXES]) -> &'a [u8] {
        &self.bytes[self.layout.byte_of(index)..][..self.layout.tensor_type.block_bytes()]
    }

    /// Returns the bytes of the row that begins at the element `index`. Rows must be contiguous.
    ///
    /// # Panics
    /// If an index is beyond its axis.
    #[must_use]
    pub fn row(&self, index: [usize; AXES]) -> &'a [u8] {
        let len = self.layout.blocks_in_row() * self.layout.tensor_type.block_bytes();
        &self.bytes[self.layout.byte_of(index)..][..len]
    }

    /// Decodes one row to f32 and writes it to `out`. The row begins at the element `index`.
    ///
    /// # Panics
    /// The same as for [`Strided::row`]. Also if `out` isn't as long as a row.
    pub fn read_row(&self, index: [usize; AXES], out: &mut [f32]) {
        dequantize_row(self.layout.tensor_type, self.row(index), out);
    }

    /// Returns all elements as f32, in an order in which the index along axis 0 changes fastest.
    #[must_use]
    pub fn to_f32(&self) -> Vec<f32> {
        let len = self.layout.tensor_type.block_len();
        let mut out = vec![0.0; self.layout.elements()];
        for (index, out) in self.blocks().zip(out.chunks_exact_mut(len)) {
            dequantize_row(self.layout.tensor_type, self.block(index), out);
        }
        out
    }

    /// Returns the index of the first element of every block, in the order of [`Strided::to_f32`].
    pub fn blocks(&self) -> impl Iterator<Item = [usize; AXES]> + use<> {
        let Layout { ne, tensor_type, .. } = self.layout;
        let len = tensor_type.block_len();
        (0..self.layout.elements() / len).map(move |i| {
            let (i, row) = (i % (ne[0] / len), i / (ne[0] / len));
            [i * len, row % ne[1], row / ne[1] % ne[2], row / ne[1] / ne[2]]
        })
    }
}

//! Day 1. Describes where the elements of a tensor are, by sizes and strides in ggml's order.
//!
//! Tasks here: week4-day1 task 1 (`Layout::new`, `Layout::from_torch`, `Layout::byte_of`).
//! Everything else is provided.

use std::fmt;

use anyhow::{Context, Result, ensure};
use tiny_llm_formats::gguf::TensorType;

/// The number of axes of every tensor. A tensor that uses fewer axes has one element along each
/// unused axis.
pub const AXES: usize = 4;

/// A tensor's layout: where each of its elements is in a slice of bytes. Axis 0 is the innermost
/// axis: rows run along it. PyTorch numbers the axes in the reverse order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// How elements are stored.
    pub tensor_type: TensorType,
    /// Number of elements along each axis, 1 or more.
    pub ne: [usize; AXES],
    /// Bytes from one element to the next along each axis. If elements are stored in blocks, the
    /// stride along axis 0 leads from one block to the next.
    pub nb: [usize; AXES],
    /// The byte at which the first element begins.
    pub offset: usize,
}

impl Layout {
    /// Returns the layout of a tensor with `sizes[i]` elements along axis `i`. The elements are
    /// stored one after the other without a gap, and the first is at byte 0. An axis that `sizes`
    /// leaves out has one element.
    ///
    /// # Errors
    /// All messages name `sizes`.
    ///
    /// - If there are more than [`AXES`] axes, or an axis has no elements.
    /// - If a row is not a whole number of blocks. The message also names the type and the number
    ///   of elements in a block of that type.
    /// - If the number of bytes does not fit into a `usize`.
    pub fn new(tensor_type: TensorType, sizes: &[usize]) -> Result<Self> {
        // SOLUTION week4-day1 task 1
        ensure!(
            sizes.len() <= AXES,
            "a tensor of {sizes:?}: found {} axes, expected at most {AXES}",
            sizes.len()
        );
        ensure!(
            !sizes.contains(&0),
            "a tensor of {sizes:?}: found an axis of 0 elements, expected 1 or more"
        );
        let mut ne = [1; AXES];
        ne[..sizes.len()].copy_from_slice(sizes);
        let block = tensor_type.block_len();
        ensure!(
            ne[0].is_multiple_of(block),
            "a tensor of {sizes:?}: found rows of {} elements, expected a multiple of {block}, the \
             block length of {tensor_type}",
            ne[0]
        );
        let mut nb = [tensor_type.block_bytes(); AXES];
        let mut elements = ne[0] / block;
        let mut bytes = nb[0];
        for axis in 1..AXES {
            let next = bytes.checked_mul(elements);
            bytes = next.with_context(|| format!("a tensor of {sizes:?} is too large"))?;
            nb[axis] = bytes;
            elements = ne[axis];
        }
        let all = bytes.checked_mul(elements);
        all.with_context(|| format!("a tensor of {sizes:?} is too large"))?;
        Ok(Self { tensor_type, ne, nb, offset: 0 })
        // END SOLUTION
    }

    /// Works like [`Layout::new`], but takes a shape in PyTorch's order, the outermost axis first.
    ///
    /// # Errors
    /// The same as for [`Layout::new`].
    pub fn from_torch(tensor_type: TensorType, shape: &[usize]) -> Result<Self> {
        // SOLUTION week4-day1 task 1
        let sizes: Vec<usize> = shape.iter().rev().copied().collect();
        Self::new(tensor_type, &sizes)
        // END SOLUTION
    }

    /// Returns the byte at which the element at `index` begins. If elements are stored in blocks,
    /// returns the byte at which the element's block begins.
    ///
    /// # Panics
    /// If `index` is out of range along an axis.
    #[must_use]
    pub fn byte_of(&self, index: [usize; AXES]) -> usize {
        // SOLUTION week4-day1 task 1
        assert!(
            index.iter().zip(&self.ne).all(|(i, n)| i < n),
            "index {index:?} is beyond the sizes {:?} of {self}",
            self.ne
        );
        let along_the_row = index[0] / self.tensor_type.block_len() * self.nb[0];
        self.offset
            + along_the_row
            + (1..AXES).map(|axis| index[axis] * self.nb[axis]).sum::<usize>()
        // END SOLUTION
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.ne.iter().product()
    }

    /// Returns the number of blocks in a row. For plain numbers, a block is one element.
    #[must_use]
    pub fn blocks_in_row(&self) -> usize {
        self.ne[0] / self.tensor_type.block_len()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.tensor_type, self.ne)
    }
}

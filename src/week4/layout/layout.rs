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
        todo!("week4-day1 task 1: Layout::new")
    }

    /// Works like [`Layout::new`], but takes a shape in PyTorch's order, the outermost axis first.
    ///
    /// # Errors
    /// The same as for [`Layout::new`].
    pub fn from_torch(tensor_type: TensorType, shape: &[usize]) -> Result<Self> {
        todo!("week4-day1 task 1: Layout::from_torch")
    }

    /// Returns the byte at which the element at `index` begins. If elements are stored in blocks,
    /// returns the byte at which the element's block begins.
    ///
    /// # Panics
    /// If `index` is out of range along an axis.
    #[must_use]
    pub fn byte_of(&self, index: [usize; AXES]) -> usize {
        todo!("week4-day1 task 1: Layout::byte_of")
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

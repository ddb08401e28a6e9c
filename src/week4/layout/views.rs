//! Day 1. Views: other tensors over the same bytes. Sizes and strides change, but no byte moves.
//!
//! Tasks here: week4-day1 task 2 (`Layout::end`, `Layout::view`, `Layout::permute`,
//! `Layout::broadcast`). Everything else is provided.

use anyhow::{Context, Result, ensure};

use super::layout::{AXES, Layout};

impl Layout {
    /// Returns the index of the first byte after the last element.
    #[must_use]
    pub fn end(&self) -> usize {
        todo!("week4-day1 task 2: Layout::end")
    }

    /// Returns a view of this tensor's bytes with sizes `ne` and strides `nb`. The view begins
    /// `offset` bytes after the beginning of this tensor's first element.
    ///
    /// # Errors
    /// All messages name this tensor's sizes and `ne`.
    ///
    /// - If an axis has no elements, or an element is outside this tensor's bytes.
    /// - If a row is not a whole number of blocks. The message also says how many elements a block
    ///   has.
    /// - If the offset or a stride leads into the middle of a block. The message also says how many
    ///   bytes a block has.
    pub fn view(&self, ne: [usize; AXES], nb: [usize; AXES], offset: usize) -> Result<Self> {
        todo!("week4-day1 task 2: Layout::view")
    }

    /// Returns the same elements with the axes in a different order: axis `i` of this tensor
    /// becomes axis `axes[i]` of the result.
    ///
    /// # Errors
    /// All messages name `axes`.
    ///
    /// - If `axes` does not name each axis once.
    /// - If `axes` moves axis 0, but this tensor's blocks have several elements. The message names
    ///   the tensor's type.
    pub fn permute(&self, axes: [usize; AXES]) -> Result<Self> {
        todo!("week4-day1 task 2: Layout::permute")
    }

    /// Returns the same elements with axes 0 and 1 swapped, so that rows become columns.
    ///
    /// # Errors
    /// The same as for [`Layout::permute`].
    pub fn transpose(&self) -> Result<Self> {
        self.permute([1, 0, 2, 3])
    }

    /// Returns a view of this tensor with sizes `ne`. Along an axis with a single element, the view
    /// repeats that element.
    ///
    /// # Errors
    /// If `ne` contains a 0, or if `ne` changes the size of an axis with more than one element. The
    /// message names this tensor's sizes and `ne`.
    pub fn broadcast(&self, ne: [usize; AXES]) -> Result<Self> {
        todo!("week4-day1 task 2: Layout::broadcast")
    }
}

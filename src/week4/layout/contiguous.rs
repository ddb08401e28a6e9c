//! Day 1. Checks whether a tensor is contiguous, and makes contiguous copies.
//!
//! Tasks here: week4-day1 task 3 (`Layout::is_contiguous`, `Layout::has_whole_rows`,
//! `Layout::reshape`, `Strided::contiguous`). Everything else is provided.

use anyhow::{Result, ensure};

use super::{
    layout::{AXES, Layout},
    strided::Strided,
};

impl Layout {
    /// Returns whether the elements are stored one after the other without a gap, with the index
    /// along axis 0 changing fastest. An axis with a single element may have any stride. So may
    /// axis 0 if a row is a single block.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        todo!("week4-day1 task 3: Layout::is_contiguous")
    }

    /// Returns whether each row by itself is contiguous.
    #[must_use]
    pub fn has_whole_rows(&self) -> bool {
        todo!("week4-day1 task 3: Layout::has_whole_rows")
    }

    /// Returns the layout of a view of this tensor that has the sizes in `sizes`. The view has the
    /// same elements, in the same order and at the same bytes.
    ///
    /// # Errors
    /// - If [`Layout::new`] returns an error.
    /// - If the product of `sizes` is not this tensor's number of elements. The message names this
    ///   tensor's sizes and `sizes`.
    /// - If this tensor is not contiguous. The message says so, and names the same sizes.
    pub fn reshape(&self, sizes: &[usize]) -> Result<Self> {
        todo!("week4-day1 task 3: Layout::reshape")
    }
}

impl Strided<'_> {
    /// Returns the elements as bytes in the order of [`Layout::new`], without a gap.
    #[must_use]
    pub fn contiguous(&self) -> Vec<u8> {
        todo!("week4-day1 task 3: Strided::contiguous")
    }
}

//! Day 1. When a tensor is contiguous, and how to make a contiguous copy.
//!
//! Tasks here: week4-day1 task 3 (`Layout::is_contiguous`, `Layout::has_whole_rows`,
//! `Layout::reshape`, `Strided::contiguous`). Everything else is provided.

use anyhow::{Result, ensure};

use super::{
    layout::{AXES, Layout},
    strided::Strided,
};

impl Layout {
    /// Returns whether the elements are stored one after the other, axis 0 fastest, without a gap.
    /// The stride of an axis with a single element (on axis 0, a single block) does not matter.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        todo!("week4-day1 task 3: Layout::is_contiguous")
    }

    /// Returns whether each row by itself is contiguous.
    #[must_use]
    pub fn has_whole_rows(&self) -> bool {
        todo!("week4-day1 task 3: Layout::has_whole_rows")
    }

    /// Returns the same elements, in the same order and in the same bytes, with other sizes.
    ///
    /// # Errors
    /// If the number of elements differs, or this tensor is not contiguous (the message says so).
    /// Also as [`Layout::new`]. The message names this tensor's sizes and the new ones.
    pub fn reshape(&self, sizes: &[usize]) -> Result<Self> {
        todo!("week4-day1 task 3: Layout::reshape")
    }
}

impl Strided<'_> {
    /// Returns a copy of the elements in the order of [`Layout::new`], without a gap.
    #[must_use]
    pub fn contiguous(&self) -> Vec<u8> {
        todo!("week4-day1 task 3: Strided::contiguous")
    }
}

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
        // SOLUTION week4-day1 task 3
        let mut steps = self.ne;
        steps[0] = self.blocks_in_row();
        let mut next = self.tensor_type.block_bytes();
        for (n, stride) in steps.into_iter().zip(self.nb) {
            if n > 1 {
                if stride != next {
                    return false;
                }
                next *= n;
            }
        }
        true
        // END SOLUTION
    }

    /// Returns whether each row by itself is contiguous.
    #[must_use]
    pub fn has_whole_rows(&self) -> bool {
        // SOLUTION week4-day1 task 3
        self.blocks_in_row() == 1 || self.nb[0] == self.tensor_type.block_bytes()
        // END SOLUTION
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
        // SOLUTION week4-day1 task 3
        let reshaped = Self::new(self.tensor_type, sizes)?;
        ensure!(
            reshaped.elements() == self.elements(),
            "{self} has {} elements, but the sizes {sizes:?} have {}",
            self.elements(),
            reshaped.elements()
        );
        ensure!(
            self.is_contiguous(),
            "{self} with strides {:?} is not contiguous: make a contiguous copy before reshaping \
             it to {sizes:?}",
            self.nb
        );
        Ok(Self { offset: self.offset, ..reshaped })
        // END SOLUTION
    }
}

impl Strided<'_> {
    /// Returns the elements as bytes in the order of [`Layout::new`], without a gap.
    #[must_use]
    pub fn contiguous(&self) -> Vec<u8> {
        // SOLUTION week4-day1 task 3
        let [ne0, ne1, ne2, ne3] = self.layout.ne;
        let mut out = Vec::new();
        for i3 in 0..ne3 {
            for i2 in 0..ne2 {
                for i1 in 0..ne1 {
                    for i0 in (0..ne0).step_by(self.layout.tensor_type.block_len()) {
                        let index: [usize; AXES] = [i0, i1, i2, i3];
                        out.extend_from_slice(self.block(index));
                    }
                }
            }
        }
        out
        // END SOLUTION
    }
}

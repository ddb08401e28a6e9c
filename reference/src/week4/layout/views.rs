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
        // SOLUTION week4-day1 task 2
        checked_end(self).expect("a layout was checked when it was made")
        // END SOLUTION
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
        // SOLUTION week4-day1 task 2
        let what = || format!("a view of shape {ne:?} from byte {offset} of {self}");
        let tensor_type = self.tensor_type;
        let (block, bytes) = (tensor_type.block_len(), tensor_type.block_bytes());
        ensure!(!ne.contains(&0), "{}: found an axis of 0 elements, expected 1 or more", what());
        ensure!(
            ne[0].is_multiple_of(block),
            "{}: found rows of {} elements, expected a multiple of {block}",
            what(),
            ne[0]
        );
        ensure!(
            nb.iter().chain([&offset]).all(|n| n.is_multiple_of(bytes)),
            "{}: found strides {nb:?} and offset {offset}, expected multiples of {bytes}, the \
             bytes of a block",
            what()
        );
        let from = self.offset.checked_add(offset);
        let view = Self { ne, nb, offset: from.with_context(what)?, ..*self };
        let (end, room) = (checked_end(&view), self.end());
        ensure!(
            end.is_some_and(|end| end <= room),
            "{}: found strides {nb:?}, which lead beyond the tensor's {} bytes",
            what(),
            room - self.offset
        );
        Ok(view)
        // END SOLUTION
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
        // SOLUTION week4-day1 task 2
        ensure!(
            (0..AXES).all(|axis| axes.contains(&axis)),
            "axes {axes:?}: expected each of 0 to {} once",
            AXES - 1
        );
        ensure!(
            axes[0] == 0 || self.tensor_type.block_len() == 1,
            "axes {axes:?} of {self}: found axis 0 moved to {}, but it has blocks of {} elements \
             and must stay first",
            axes[0],
            self.tensor_type.block_len()
        );
        let mut permuted = *self;
        for (from, to) in axes.into_iter().enumerate() {
            permuted.ne[to] = self.ne[from];
            permuted.nb[to] = self.nb[from];
        }
        Ok(permuted)
        // END SOLUTION
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
        // SOLUTION week4-day1 task 2
        let mut wide = *self;
        for axis in 0..AXES {
            if self.ne[axis] != ne[axis] {
                ensure!(
                    self.ne[axis] == 1 && ne[axis] > 0,
                    "{self} does not broadcast to {ne:?}: axis {axis} has {} elements, expected {} \
                     or 1",
                    self.ne[axis],
                    ne[axis]
                );
                (wide.ne[axis], wide.nb[axis]) = (ne[axis], 0);
            }
        }
        Ok(wide)
        // END SOLUTION
    }
}

// SOLUTION week4-day1 task 2 (helper)
/// Computes [`Layout::end`] for a layout that has not been checked. Returns `None` on overflow.
fn checked_end(layout: &Layout) -> Option<usize> {
    let mut steps = layout.ne;
    steps[0] = layout.blocks_in_row();
    let last = steps
        .iter()
        .zip(&layout.nb)
        .try_fold(layout.offset, |at, (n, stride)| at.checked_add((n - 1).checked_mul(*stride)?));
    last?.checked_add(layout.tensor_type.block_bytes())
}
// END SOLUTION

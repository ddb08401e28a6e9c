//! Activations prepared for a kernel for a few rows. A tile with one row of activations, of at most
//! [`STRETCH`] super-blocks, prepares them once for all of its rows of weights. Any other tile
//! prepares them again for every four rows of weights.

use std::mem::MaybeUninit;

/// Maximum number of super-blocks of activations that are prepared at a time.
pub(super) const STRETCH: usize = 16;

/// Up to [`STRETCH`] prepared super-blocks of a row of activations.
pub(super) struct Ready<A> {
    /// Storage. Only the first `written` elements are initialised.
    room: [MaybeUninit<A>; STRETCH],
    written: usize,
    /// The row of activations to which the super-blocks belong, and the index of the first
    /// super-block.
    whose: Option<(usize, usize)>,
}

impl<A: Copy> Ready<A> {
    pub(super) fn new() -> Self {
        Self { room: [const { MaybeUninit::uninit() }; STRETCH], written: 0, whose: None }
    }

    /// Returns the super-blocks of row `t`, starting at super-block `first`. If they aren't stored
    /// yet, stores those of `all`.
    #[inline(always)]
    pub(super) fn of(&mut self, t: usize, first: usize, all: impl Iterator<Item = A>) -> &[A] {
        if self.whose != Some((t, first)) {
            self.written = 0;
            for (place, one) in self.room.iter_mut().zip(all) {
                place.write(one);
                self.written += 1;
            }
            self.whose = Some((t, first));
        }
        let written = &self.room[..self.written];
        // SAFETY: the first `written` elements have been written, and `MaybeUninit<A>` has the
        // layout of `A`.
        unsafe { &*(std::ptr::from_ref(written) as *const [A]) }
    }
}

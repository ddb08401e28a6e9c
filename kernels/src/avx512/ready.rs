//! Activations in the form of a kernel for few rows, computed once for all the rows of weights that
//! a thread takes at a time.

use std::mem::MaybeUninit;

/// Super-blocks of activations that are made ready at a time.
pub(super) const STRETCH: usize = 16;

/// A stretch of prepared super-blocks.
pub(super) struct Ready<A> {
    /// Only as many are written, and then used, as there are in a stretch.
    room: [MaybeUninit<A>; STRETCH],
    written: usize,
    /// The row of activations that they belong to, and the first of them.
    whose: Option<(usize, usize)>,
}

impl<A: Copy> Ready<A> {
    pub(super) fn new() -> Self {
        Self { room: [const { MaybeUninit::uninit() }; STRETCH], written: 0, whose: None }
    }

    /// Those of row `t` from super-block `first` on, which `all` makes if others are there.
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
        // SAFETY: so many have been written, and lie as they would without the wrapper.
        unsafe { &*(std::ptr::from_ref(written) as *const [A]) }
    }
}

//! Day 3. An arena that lends parts of its memory and takes them back.
//!
//! Tasks here: week4-day3 task 2 (`Arena::allocate`, `Arena::release`). Everything else is
//! provided.

/// The free parts of an arena. It has no memory itself, only offsets, which are counted from 0.
///
/// Adjacent free parts are always joined into one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arena {
    /// Start and length of each free part, from front to back. All of them are before `end`.
    free: Vec<(usize, usize)>,
    /// The largest end of any part that was ever lent.
    end: usize,
}

impl Arena {
    /// Returns how long the arena must be for everything that it has lent so far.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.end
    }

    /// Returns the start and length of each free part, from front to back.
    #[must_use]
    pub fn free_parts(&self) -> &[(usize, usize)] {
        &self.free
    }

    /// Lends `bytes` bytes and returns their offset. Uses the beginning of the shortest free part
    /// that is long enough (the first, if there are several). If there is none, the arena grows. If
    /// a free part ends at the arena's end, the new part then begins where that free part begins.
    ///
    /// # Panics
    /// If `bytes` is 0.
    pub fn allocate(&mut self, bytes: usize) -> usize {
        todo!("week4-day3 task 2: Arena::allocate")
    }

    /// Takes back a part, and joins it with the free parts next to it.
    ///
    /// # Panics
    /// If a byte of the part is already free, or is beyond the arena.
    pub fn release(&mut self, start: usize, bytes: usize) {
        todo!("week4-day3 task 2: Arena::release")
    }
}

//! Day 3. One piece of memory, whose parts are lent and returned.
//!
//! Tasks here: week4-day3 task 2 (`Arena::allocate`, `Arena::release`). Everything else is
//! provided.

/// Which parts of an arena are free. It has no bytes itself: offsets are counted from 0.
///
/// Two free parts never touch: they would be joined into one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arena {
    /// Where free parts begin, and how long they are, from front to back. All of them are before
    /// `end`.
    free: Vec<(usize, usize)>,
    /// The highest end of all parts that were ever lent.
    end: usize,
}

impl Arena {
    /// How long the arena has to be for everything that it has lent so far.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.end
    }

    /// The free parts, from front to back: where each begins, and how long it is.
    #[must_use]
    pub fn free_parts(&self) -> &[(usize, usize)] {
        &self.free
    }

    /// Lends `bytes` bytes and returns where: at the beginning of the shortest free part that is
    /// long enough (the first, if there are several). If there is none, the arena grows, and a free
    /// part at its end is used.
    ///
    /// # Panics
    /// If `bytes` is 0.
    pub fn allocate(&mut self, bytes: usize) -> usize {
        todo!("week4-day3 task 2: Arena::allocate")
    }

    /// Takes back what was lent, and joins it with the free parts next to it.
    ///
    /// # Panics
    /// If a byte of it is free, or is beyond the arena.
    pub fn release(&mut self, start: usize, bytes: usize) {
        todo!("week4-day3 task 2: Arena::release")
    }
}

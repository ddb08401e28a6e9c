//! Day 3. One piece of memory, whose parts are lent and come back.
//!
//! Tasks here: week4-day3 task 2 (`Arena::allocate`, `Arena::release`). Everything else is
//! provided.

/// Which parts of an arena are free. It has no bytes itself: places are counted from 0.
///
/// Two free parts never touch: they would be one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arena {
    /// Where free parts begin, and how long they are, from front to back. All of them lie before
    /// `end`.
    free: Vec<(usize, usize)>,
    /// The end of the part that reached furthest, of all that were ever lent.
    end: usize,
}

impl Arena {
    /// How long the arena has to be for all that it has lent so far.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.end
    }

    /// The free parts, from front to back: where each begins, and how long it is.
    #[must_use]
    pub fn free_parts(&self) -> &[(usize, usize)] {
        &self.free
    }

    /// Lends `bytes` bytes, and says where: at the beginning of the shortest free part that is long
    /// enough, the first of several; where there is none, the arena grows, and a free part at its
    /// end is used.
    ///
    /// # Panics
    /// If no bytes are asked for.
    pub fn allocate(&mut self, bytes: usize) -> usize {
        todo!("week4-day3 task 2: Arena::allocate")
    }

    /// Takes back what was lent, and joins it with free parts that it touches.
    ///
    /// # Panics
    /// If a byte of it is free, or lies beyond the arena.
    pub fn release(&mut self, start: usize, bytes: usize) {
        todo!("week4-day3 task 2: Arena::release")
    }
}

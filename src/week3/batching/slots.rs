//! Day 1. Who has which place in the cache.
//!
//! Tasks here: week3-day1 task 3 (`Slots::claim`, `Slots::release`). Everything else is provided.

use super::request::RequestId;

/// The places of a cache that keeps room for a fixed number of sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// `[sequences]`, the owner of each place.
    owners: Vec<Option<RequestId>>,
}

impl Slots {
    /// `sequences` places, all free.
    #[must_use]
    pub fn new(sequences: usize) -> Self {
        Self { owners: vec![None; sequences] }
    }

    /// How many places are free.
    #[must_use]
    pub fn num_free(&self) -> usize {
        self.owners.iter().filter(|owner| owner.is_none()).count()
    }

    /// The owner of a place.
    #[must_use]
    pub fn owner(&self, slot: usize) -> Option<RequestId> {
        self.owners[slot]
    }

    /// Gives a request the free place with the lowest number, if there is one.
    pub fn claim(&mut self, id: RequestId) -> Option<usize> {
        todo!("week3-day1 task 3: Slots::claim")
    }

    /// Takes a request's place back.
    ///
    /// # Panics
    /// If the place is not this request's: giving back another's place would let two requests
    /// write over each other.
    pub fn release(&mut self, slot: usize, id: RequestId) {
        todo!("week3-day1 task 3: Slots::release")
    }
}

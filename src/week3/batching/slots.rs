//! Day 1. Assigns the cache's slots to requests.
//!
//! Tasks here: week3-day1 task 3 (`Slots::claim`, `Slots::release`). Everything else is provided.

use super::request::RequestId;

/// The slots of a cache that has room for a fixed number of sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// `[sequences]`, the owner of each slot.
    owners: Vec<Option<RequestId>>,
}

impl Slots {
    /// Creates `sequences` slots, all free.
    #[must_use]
    pub fn new(sequences: usize) -> Self {
        Self { owners: vec![None; sequences] }
    }

    /// Returns the number of free slots.
    #[must_use]
    pub fn num_free(&self) -> usize {
        self.owners.iter().filter(|owner| owner.is_none()).count()
    }

    /// Returns the owner of a slot, or `None` if it is free.
    #[must_use]
    pub fn owner(&self, slot: usize) -> Option<RequestId> {
        self.owners[slot]
    }

    /// Assigns the free slot with the lowest number to a request, and returns the slot. Returns
    /// `None` if no slot is free.
    pub fn claim(&mut self, id: RequestId) -> Option<usize> {
        todo!("week3-day1 task 3: Slots::claim")
    }

    /// Releases a request's slot.
    ///
    /// # Panics
    /// If this request does not own the slot: releasing another request's slot would let two
    /// requests write to the same slot.
    pub fn release(&mut self, slot: usize, id: RequestId) {
        todo!("week3-day1 task 3: Slots::release")
    }
}

//! Day 1. Assigns the cache's slots to requests.
//!
//! Tasks here: week3-day1 task 3 (`Slots::claim`, `Slots::release`). Everything else is provided.

use super::request::RequestId;

/// Records which request owns each slot of a cache. The number of slots is fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// `[sequences]`, the request that owns each slot, or `None` if the slot is free.
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

    /// Returns the request that owns a slot, or `None` if the slot is free.
    #[must_use]
    pub fn owner(&self, slot: usize) -> Option<RequestId> {
        self.owners[slot]
    }

    /// Assigns the free slot with the lowest number to request `id`. Returns the slot's number, or
    /// `None` if no slot is free.
    pub fn claim(&mut self, id: RequestId) -> Option<usize> {
        todo!("week3-day1 task 3: Slots::claim")
    }

    /// Releases `slot`, which request `id` must own.
    ///
    /// # Panics
    /// If request `id` does not own the slot. Releasing another request's slot would let two
    /// requests write to the same slot.
    pub fn release(&mut self, slot: usize, id: RequestId) {
        todo!("week3-day1 task 3: Slots::release")
    }
}

//! Day 1: batch slots.

use super::rust::slots as rust;
use crate::prelude::*;

exports! { class Slots; }

/// The slots of a cache that has room for a fixed number of sequences.
#[pyclass]
pub(crate) struct Slots {
    slots: Kept<rust::Slots>,
    sequences: usize,
}

#[pymethods]
impl Slots {
    #[new]
    fn new(sequences: Count) -> PyResult<Self> {
        let sequences = sequences.0;
        at_least_one("sequences", sequences)?;
        room("the slots", &[sequences, 4])?;
        Ok(Self { slots: Kept::new(rust::Slots::new(sequences)), sequences })
    }

    /// Assigns the free slot with the lowest number to a request. Returns None if no slot is free.
    fn claim(&self, id: Count) -> PyResult<Option<usize>> {
        self.slots.call(move |slots| slots.claim(id.0 as u64))
    }

    /// Releases a request's slot.
    fn release(&self, slot: Count, id: Count) -> PyResult<()> {
        let slot = slot.0;
        below("slot", slot, self.sequences, "the slots of the cache")?;
        let id = id.0 as u64;
        let other = self.slots.call(move |slots| match slots.owner(slot) {
            Some(owner) if owner == id => {
                slots.release(slot, id);
                None
            }
            other => Some(other),
        })?;
        let Some(other) = other else { return Ok(()) };
        let expected = match other {
            Some(owner) => format!("{owner}, the owner of slot {slot}"),
            None => format!("the owner of a taken slot; slot {slot} is free"),
        };
        Err(wrong("id", id, expected))
    }

    /// Returns the owner of a slot, or None if it is free.
    fn owner(&self, slot: Count) -> PyResult<Option<u64>> {
        let slot = slot.0;
        below("slot", slot, self.sequences, "the slots of the cache")?;
        self.slots.call(move |slots| slots.owner(slot))
    }

    fn __repr__(&self) -> String {
        format!("Slots({})", self.sequences)
    }
}

//! Day 1: places in the cache.

use super::rust::slots as rust;
use crate::prelude::*;

exports! { class Slots; }

/// The places of a cache that keeps room for a fixed number of sequences.
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

    /// Gives a request the free place with the lowest number, if there is one.
    fn claim(&self, id: Count) -> PyResult<Option<usize>> {
        self.slots.call(move |slots| slots.claim(id.0 as u64))
    }

    /// Takes a request's place back.
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

    /// Whose a place is.
    fn owner(&self, slot: Count) -> PyResult<Option<u64>> {
        let slot = slot.0;
        below("slot", slot, self.sequences, "the slots of the cache")?;
        self.slots.call(move |slots| slots.owner(slot))
    }

    fn __repr__(&self) -> String {
        format!("Slots({})", self.sequences)
    }
}

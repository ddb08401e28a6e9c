//! Day 1: places in the cache.

use pyo3::prelude::*;

use super::rust::slots as rust;
use crate::{
    background::Kept,
    convert::Count,
    memory::room,
    shapes::{at_least_one, below},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Slots>()
}

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
        room("the places", &[sequences, 4])?;
        Ok(Self { slots: Kept::new(rust::Slots::new(sequences)), sequences })
    }

    /// Gives a request the free place with the lowest number, if there is one.
    fn claim(&mut self, py: Python<'_>, id: Count) -> PyResult<Option<usize>> {
        self.slots.call(py, move |slots| slots.claim(id.0 as u64))
    }

    /// Takes a request's place back.
    fn release(&mut self, py: Python<'_>, slot: Count, id: Count) -> PyResult<()> {
        let slot = slot.0;
        below("slot", slot, self.sequences, "the places of the cache")?;
        self.slots.call(py, move |slots| slots.release(slot, id.0 as u64))
    }

    /// Whose a place is.
    fn owner(&self, py: Python<'_>, slot: Count) -> PyResult<Option<u64>> {
        let slot = slot.0;
        below("slot", slot, self.sequences, "the places of the cache")?;
        self.slots.call(py, move |slots| slots.owner(slot))
    }

    fn __repr__(&self) -> String {
        format!("Slots({})", self.sequences)
    }
}

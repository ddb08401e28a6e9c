//! Day 3: an arena.

use super::rust::arena as rust;
use crate::prelude::*;

exports! { class Arena; }

/// Keeps track of the free parts of an arena.
#[pyclass(frozen)]
pub(crate) struct Arena(Kept<rust::Arena>);

#[pymethods]
impl Arena {
    #[new]
    fn new() -> Self {
        Self(Kept::new(rust::Arena::default()))
    }

    /// Allocates `bytes` bytes and returns their offset.
    fn allocate(&self, bytes: Count) -> PyResult<usize> {
        at_least_one("bytes", bytes.0)?;
        self.0.call(move |arena| arena.allocate(bytes.0))
    }

    /// Frees the part of `bytes` bytes that begins at `start`.
    fn release(&self, start: Count, bytes: Count) -> PyResult<()> {
        at_least_one("bytes", bytes.0)?;
        self.0.call(move |arena| arena.release(start.0, bytes.0))
    }

    /// Returns the length that the arena needs, in bytes.
    fn peak(&self) -> PyResult<usize> {
        self.0.call(|arena| arena.peak())
    }

    /// Returns the start and length of each free part.
    fn free_parts(&self) -> PyResult<Vec<(usize, usize)>> {
        self.0.call(|arena| arena.free_parts().to_vec())
    }
}

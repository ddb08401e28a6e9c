//! Day 3: an arena.

use super::rust::arena as rust;
use crate::prelude::*;

exports! { class Arena; }

/// Which parts of an arena are free.
#[pyclass(frozen)]
pub(crate) struct Arena(Kept<rust::Arena>);

#[pymethods]
impl Arena {
    #[new]
    fn new() -> Self {
        Self(Kept::new(rust::Arena::default()))
    }

    /// Lends so many bytes, and says where.
    fn allocate(&self, bytes: Count) -> PyResult<usize> {
        at_least_one("bytes", bytes.0)?;
        self.0.call(move |arena| arena.allocate(bytes.0))
    }

    /// Takes them back.
    fn release(&self, start: Count, bytes: Count) -> PyResult<()> {
        at_least_one("bytes", bytes.0)?;
        self.0.call(move |arena| arena.release(start.0, bytes.0))
    }

    /// How long the arena has to be.
    fn peak(&self) -> PyResult<usize> {
        self.0.call(|arena| arena.peak())
    }

    /// Where free parts begin, and how long they are.
    fn free_parts(&self) -> PyResult<Vec<(usize, usize)>> {
        self.0.call(|arena| arena.free_parts().to_vec())
    }
}

//! Day 4, first half.

use pyo3::prelude::*;

use super::rust::norm as rust;
use crate::convert::{Any, Vector, compute};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<RmsNorm>()
}

#[pyclass(frozen, get_all, new = "from_fields", from_py_object)]
#[derive(Clone)]
pub(crate) struct RmsNorm {
    weight: Vector,
    eps: f32,
}

impl RmsNorm {
    pub(crate) fn to_rust(&self) -> rust::RmsNorm {
        rust::RmsNorm { weight: self.weight.0.clone(), eps: self.eps }
    }
}

#[pymethods]
impl RmsNorm {
    fn forward(&self, py: Python<'_>, x: Any) -> PyResult<Any> {
        let norm = self.to_rust();
        compute(py, || norm.forward(&x.0))
    }
}

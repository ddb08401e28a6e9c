//! Day 4, second half.

use pyo3::prelude::*;

use super::rust::mlp as rust;
use crate::convert::{Any, Matrix, compute};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(silu, m)?)?;
    m.add_class::<SwiGlu>()
}

#[pyfunction]
fn silu(py: Python<'_>, x: Any) -> PyResult<Any> {
    compute(py, || rust::silu(&x.0))
}

#[pyclass(frozen, get_all, new = "from_fields", from_py_object)]
#[derive(Clone)]
pub(crate) struct SwiGlu {
    gate_proj: Matrix,
    up_proj: Matrix,
    down_proj: Matrix,
}

impl SwiGlu {
    pub(crate) fn to_rust(&self) -> rust::SwiGlu {
        rust::SwiGlu {
            gate_proj: self.gate_proj.0.clone(),
            up_proj: self.up_proj.0.clone(),
            down_proj: self.down_proj.0.clone(),
        }
    }
}

#[pymethods]
impl SwiGlu {
    fn forward(&self, py: Python<'_>, x: Any) -> PyResult<Any> {
        let mlp = self.to_rust();
        compute(py, || mlp.forward(&x.0))
    }
}

//! Day 4, first half.

use super::rust::norm as rust;
use crate::prelude::*;

exports! { class RmsNorm; }

/// RMSNorm with `weight [E]`: `x / √(mean(x²) + eps) · weight` over the last axis.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct RmsNorm(rust::RmsNorm);

impl RmsNorm {
    pub(crate) fn to_rust(&self) -> rust::RmsNorm {
        self.0.clone()
    }

    /// Returns `[E]`.
    pub(super) fn shape(&self) -> &[usize] {
        self.0.weight.shape()
    }
}

#[pymethods]
impl RmsNorm {
    #[new]
    fn new(weight: Floats, eps: Real) -> PyResult<Self> {
        fit!(weight = "E");
        Ok(Self(rust::RmsNorm { weight: weight.0, eps: eps.0 }))
    }

    /// Weight, `[E]`.
    #[getter]
    fn weight(&self) -> Floats {
        Floats(self.0.weight.clone())
    }

    /// Number that is added to the mean square, so that the root is not 0.
    #[getter]
    fn eps(&self) -> f32 {
        self.0.eps
    }

    /// Normalises `x [..., E]` → the same shape.
    fn forward(&self, x: Floats) -> PyResult<Floats> {
        fit!("weight": E = self.shape()[0]; x = "... E");
        let norm = self.to_rust();
        compute(move || norm.forward(&x.0))
    }

    fn __repr__(&self) -> String {
        format!("RmsNorm(size={}, eps={:e})", self.shape()[0], self.0.eps)
    }
}

//! Day 4, second half.

use super::rust::mlp as rust;
use crate::prelude::*;

exports! {
    fn silu;
    class SwiGlu;
}

/// `x · σ(x)`, element by element.
#[pyfunction]
fn silu(x: Floats) -> PyResult<Floats> {
    compute(move || rust::silu(&x.0))
}

/// `gate_proj`, `up_proj [I, E]`, `down_proj [E, I]`
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct SwiGlu(Arc<rust::SwiGlu>);

impl SwiGlu {
    pub(crate) fn to_rust(&self) -> rust::SwiGlu {
        (*self.0).clone()
    }

    /// `E`
    pub(super) fn width(&self) -> usize {
        self.0.gate_proj.shape()[1]
    }
}

#[pymethods]
impl SwiGlu {
    #[new]
    fn new(gate_proj: Floats, up_proj: Floats, down_proj: Floats) -> PyResult<Self> {
        fit!(gate_proj = "I E", up_proj = "I E", down_proj = "E I");
        let (gate_proj, up_proj, down_proj) = (gate_proj.0, up_proj.0, down_proj.0);
        Ok(Self(Arc::new(rust::SwiGlu { gate_proj, up_proj, down_proj })))
    }

    /// `[I, E]`
    #[getter]
    fn gate_proj(&self) -> Floats {
        Floats(self.0.gate_proj.clone())
    }

    /// `[I, E]`
    #[getter]
    fn up_proj(&self) -> Floats {
        Floats(self.0.up_proj.clone())
    }

    /// `[E, I]`
    #[getter]
    fn down_proj(&self) -> Floats {
        Floats(self.0.down_proj.clone())
    }

    /// `x [..., L, E]` → `[..., L, E]`
    fn forward(&self, x: Floats) -> PyResult<Floats> {
        let mut shapes = Shapes::default();
        shapes.set("E", self.width(), "gate_proj");
        shapes.fit("x", "... L E", &x)?;
        shapes.set("I", self.0.gate_proj.shape()[0], "gate_proj");
        room("the hidden values", &shapes.shape(&["L", "I"]))?;
        let mlp = Arc::clone(&self.0);
        compute(move || mlp.forward(&x.0))
    }

    fn __repr__(&self) -> String {
        let shape = self.0.gate_proj.shape();
        format!("SwiGlu(hidden_size={}, intermediate_size={})", shape[1], shape[0])
    }
}

//! Day 4, second half.

use super::rust::mlp as rust;
use crate::prelude::*;

exports! {
    fn silu;
    class SwiGlu;
}

/// Computes `x · σ(x)`, element by element.
#[pyfunction]
fn silu(x: Floats) -> PyResult<Floats> {
    compute(move || rust::silu(&x.0))
}

/// The SwiGLU MLP: `gate_proj` and `up_proj [I, E]`, `down_proj [E, I]`.
#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct SwiGlu {
    /// Weight of the gate projection, `[I, E]`.
    gate_proj: Floats,
    /// Weight of the up projection, `[I, E]`.
    up_proj: Floats,
    /// Weight of the down projection, `[E, I]`.
    down_proj: Floats,
}

impl SwiGlu {
    pub(crate) fn to_rust(&self) -> rust::SwiGlu {
        let [gate_proj, up_proj, down_proj] =
            [&self.gate_proj, &self.up_proj, &self.down_proj].map(|x| x.0.clone());
        rust::SwiGlu { gate_proj, up_proj, down_proj }
    }

    /// Returns the width of the MLP, `E`.
    pub(super) fn width(&self) -> usize {
        self.gate_proj.0.shape()[1]
    }
}

#[pymethods]
impl SwiGlu {
    #[new]
    fn new(gate_proj: Floats, up_proj: Floats, down_proj: Floats) -> PyResult<Self> {
        fit!(gate_proj = "I E", up_proj = "I E", down_proj = "E I");
        Ok(Self { gate_proj, up_proj, down_proj })
    }

    /// Computes the MLP: `x [..., L, E]` → `[..., L, E]`.
    fn forward(&self, x: Floats) -> PyResult<Floats> {
        let inner = self.gate_proj.0.shape()[0];
        let shapes = fit!("gate_proj": I = inner, E = self.width(); x = "... L E");
        room("the hidden values", &shapes.shape(&["L", "I"]))?;
        let mlp = self.to_rust();
        compute(move || mlp.forward(&x.0))
    }

    fn __repr__(&self) -> String {
        let shape = self.gate_proj.0.shape();
        format!("SwiGlu(hidden_size={}, intermediate_size={})", shape[1], shape[0])
    }
}

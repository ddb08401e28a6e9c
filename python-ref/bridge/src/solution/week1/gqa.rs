//! Day 3.

use std::sync::Arc;

use ndarray::Axis;
use pyo3::prelude::*;
use tiny_llm_formats::Tensor;

use super::{rope::RopeTables, rust::gqa as rust};
use crate::convert::{Any, Heads, Matrix, Sequences, Vector, compute, optional};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(grouped_query_attention, m)?)?;
    m.add_function(wrap_pyfunction!(causal_mask, m)?)?;
    m.add_class::<Linear>()?;
    m.add_class::<GroupedQueryAttention>()
}

#[pyfunction]
#[pyo3(signature = (q, k, v, scale=None, mask=None))]
fn grouped_query_attention(
    py: Python<'_>,
    q: Heads,
    k: Heads,
    v: Heads,
    scale: Option<f32>,
    mask: Option<Any>,
) -> PyResult<Any> {
    compute(py, || rust::grouped_query_attention(&q.0, &k.0, &v.0, scale, optional(&mask)))
}

#[pyfunction]
fn causal_mask(py: Python<'_>, length: usize, keys: usize) -> PyResult<Any> {
    compute(py, || rust::causal_mask(length, keys))
}

#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct Linear {
    weight: Matrix,
    bias: Option<Vector>,
}

impl Linear {
    pub(crate) fn to_rust(&self) -> rust::Linear {
        rust::Linear { weight: self.weight.0.clone(), bias: optional(&self.bias).cloned() }
    }
}

#[pymethods]
impl Linear {
    #[new]
    #[pyo3(signature = (weight, bias=None))]
    fn new(weight: Matrix, bias: Option<Vector>) -> Self {
        Self { weight, bias }
    }

    fn forward(&self, py: Python<'_>, x: Any) -> PyResult<Any> {
        let layer = self.to_rust();
        compute(py, || layer.forward(&x.0))
    }
}

#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct GroupedQueryAttention {
    n_heads: usize,
    n_kv_heads: usize,
    q_proj: Linear,
    k_proj: Linear,
    v_proj: Linear,
    o_proj: Linear,
    rope: RopeTables,
    q_norm: Option<Vector>,
    k_norm: Option<Vector>,
    norm_eps: f32,
}

impl GroupedQueryAttention {
    pub(crate) fn to_rust(&self) -> rust::GroupedQueryAttention {
        rust::GroupedQueryAttention {
            n_heads: self.n_heads,
            n_kv_heads: self.n_kv_heads,
            q_proj: self.q_proj.to_rust(),
            k_proj: self.k_proj.to_rust(),
            v_proj: self.v_proj.to_rust(),
            o_proj: self.o_proj.to_rust(),
            q_norm: head_norm(&self.q_norm, self.norm_eps),
            k_norm: head_norm(&self.k_norm, self.norm_eps),
            rope: Arc::new(self.rope.0.clone()),
        }
    }
}

#[pymethods]
impl GroupedQueryAttention {
    /// `q_norm` and `k_norm` are the weights `[D]` of an RMSNorm that this module brings: the
    /// solution's comes on day 4.
    #[new]
    #[pyo3(signature = (n_heads, n_kv_heads, q_proj, k_proj, v_proj, o_proj, rope, q_norm=None, k_norm=None, norm_eps=1e-6))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn new(
        n_heads: usize,
        n_kv_heads: usize,
        q_proj: Linear,
        k_proj: Linear,
        v_proj: Linear,
        o_proj: Linear,
        rope: RopeTables,
        q_norm: Option<Vector>,
        k_norm: Option<Vector>,
        norm_eps: f32,
    ) -> Self {
        Self { n_heads, n_kv_heads, q_proj, k_proj, v_proj, o_proj, rope, q_norm, k_norm, norm_eps }
    }

    #[pyo3(signature = (x, mask=None))]
    fn forward(&self, py: Python<'_>, x: Sequences, mask: Option<Any>) -> PyResult<Any> {
        let layer = self.to_rust();
        compute(py, || layer.forward(&x.0, optional(&mask)))
    }
}

/// RMSNorm over the last axis, in f64.
fn head_norm(weight: &Option<Vector>, eps: f32) -> Option<rust::HeadNorm> {
    let weight = weight.as_ref()?.0.clone();
    Some(Box::new(move |x: &Tensor| {
        let (mut x, last) = (x.clone(), Axis(x.ndim() - 1));
        for mut row in x.lanes_mut(last) {
            let mean_square =
                row.fold(0.0, |sum, &v| sum + f64::from(v).powi(2)) / row.len() as f64;
            let root = (mean_square + f64::from(eps)).sqrt();
            row.mapv_inplace(|v| (f64::from(v) / root) as f32);
        }
        x * &weight
    }))
}

//! Day 1.

use pyo3::prelude::*;

use super::rust::attention as rust;
use crate::convert::{Any, Heads, Matrices, Matrix, Sequences, Vector, compute, optional};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(softmax, m)?)?;
    m.add_function(wrap_pyfunction!(linear, m)?)?;
    m.add_function(wrap_pyfunction!(scaled_dot_product_attention, m)?)?;
    m.add_function(wrap_pyfunction!(split_heads, m)?)?;
    m.add_function(wrap_pyfunction!(merge_heads, m)?)?;
    m.add_class::<MultiHeadAttention>()
}

#[pyfunction]
fn softmax(py: Python<'_>, x: Any) -> PyResult<Any> {
    compute(py, || rust::softmax(&x.0))
}

#[pyfunction]
#[pyo3(signature = (x, weight, bias=None))]
fn linear(py: Python<'_>, x: Any, weight: Matrix, bias: Option<Vector>) -> PyResult<Any> {
    compute(py, || rust::linear(&x.0, &weight.0, optional(&bias)))
}

#[pyfunction]
#[pyo3(signature = (q, k, v, scale=None, mask=None))]
fn scaled_dot_product_attention(
    py: Python<'_>,
    q: Matrices,
    k: Matrices,
    v: Matrices,
    scale: Option<f32>,
    mask: Option<Any>,
) -> PyResult<Any> {
    compute(py, || rust::scaled_dot_product_attention(&q.0, &k.0, &v.0, scale, optional(&mask)))
}

#[pyfunction]
fn split_heads(py: Python<'_>, x: Sequences, n_heads: usize) -> PyResult<Any> {
    compute(py, || rust::split_heads(&x.0, n_heads))
}

#[pyfunction]
fn merge_heads(py: Python<'_>, x: Heads) -> PyResult<Any> {
    compute(py, || rust::merge_heads(&x.0))
}

#[pyclass(frozen, get_all, new = "from_fields")]
pub(crate) struct MultiHeadAttention {
    n_heads: usize,
    q_proj: Matrix,
    k_proj: Matrix,
    v_proj: Matrix,
    o_proj: Matrix,
}

#[pymethods]
impl MultiHeadAttention {
    #[pyo3(signature = (query, key, value, mask=None))]
    fn forward(
        &self,
        py: Python<'_>,
        query: Sequences,
        key: Sequences,
        value: Sequences,
        mask: Option<Any>,
    ) -> PyResult<Any> {
        let layer = rust::MultiHeadAttention {
            n_heads: self.n_heads,
            q_proj: self.q_proj.0.clone(),
            k_proj: self.k_proj.0.clone(),
            v_proj: self.v_proj.0.clone(),
            o_proj: self.o_proj.0.clone(),
        };
        compute(py, || layer.forward(&query.0, &key.0, &value.0, optional(&mask)))
    }
}

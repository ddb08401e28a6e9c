//! Day 1.

use super::rust::attention as rust;
use crate::prelude::*;

exports! {
    fn softmax, linear, scaled_dot_product_attention, split_heads, merge_heads;
    class MultiHeadAttention;
}

/// Computes softmax over the last axis: `x [..., n]` → the same shape.
#[pyfunction]
fn softmax(x: Floats) -> PyResult<Floats> {
    fit!(x = "... n");
    compute(move || rust::softmax(&x.0))
}

/// Projects `x [..., L, in]` with `weight [out, in]` and `bias [out]` → `[..., L, out]`.
#[pyfunction]
#[pyo3(signature = (x, weight, bias=None))]
fn linear(x: Floats, weight: Floats, bias: Option<Floats>) -> PyResult<Floats> {
    check_linear(&x, &weight, bias.as_ref())?;
    compute(move || rust::linear(&x.0, &weight.0, optional(&bias)))
}

/// Checks the arguments of [`linear`], and that there is memory for its result.
pub(super) fn check_linear(x: &Floats, weight: &Floats, bias: Option<&Floats>) -> PyResult<()> {
    let shapes = fit!(x = "... L in", weight = "out in", bias = "out");
    room("the result", &shapes.shape(&["L", "out"]))
}

/// Computes attention: `q [..., L, D]`, `k [..., S, D]`, `v [..., S, D]` → `[..., L, D]`. `mask` is
/// added to the scores and broadcasts to `[..., L, S]`.
#[pyfunction]
#[pyo3(signature = (q, k, v, scale=None, mask=None))]
fn scaled_dot_product_attention(
    q: Floats,
    k: Floats,
    v: Floats,
    scale: Option<Real>,
    mask: Option<Floats>,
) -> PyResult<Floats> {
    let shapes = fit!(q = "... L D", k = "... S D", v = "... S D");
    shapes.fit_mask(mask.as_ref(), &["L", "S"])?;
    room("the scores", &shapes.shape(&["L", "S"]))?;
    room("the result", &shapes.shape(&["L", "D"]))?;
    compute(move || {
        let scale = scale.map(|scale| scale.0);
        rust::scaled_dot_product_attention(&q.0, &k.0, &v.0, scale, optional(&mask))
    })
}

/// Splits heads: `[B, L, H·D]` → `[B, H, L, D]`.
#[pyfunction]
fn split_heads(x: Floats, n_heads: Count) -> PyResult<Floats> {
    let shapes = fit!(x = "B L H·D");
    divides("n_heads", n_heads.0, shapes.size("H·D"), "the last axis of x")?;
    compute(move || rust::split_heads(&x.0, n_heads.0))
}

/// Merges heads: `[B, H, L, D]` → `[B, L, H·D]`.
#[pyfunction]
fn merge_heads(x: Floats) -> PyResult<Floats> {
    fit!(x = "B H L D");
    compute(move || rust::merge_heads(&x.0))
}

/// Multi-head attention: `q_proj`, `k_proj` and `v_proj [H·D, E]`, `o_proj [E, H·D]`.
#[pyclass(frozen, get_all)]
pub(crate) struct MultiHeadAttention {
    /// Number of heads, `H`.
    n_heads: usize,
    /// Weight of the query projection, `[H·D, E]`.
    q_proj: Floats,
    /// Weight of the key projection, `[H·D, E]`.
    k_proj: Floats,
    /// Weight of the value projection, `[H·D, E]`.
    v_proj: Floats,
    /// Weight of the output projection, `[E, H·D]`.
    o_proj: Floats,
}

#[pymethods]
impl MultiHeadAttention {
    #[new]
    fn new(
        n_heads: Count,
        q_proj: Floats,
        k_proj: Floats,
        v_proj: Floats,
        o_proj: Floats,
    ) -> PyResult<Self> {
        let shapes = fit!(q_proj = "H·D E", k_proj = "H·D E", v_proj = "H·D E", o_proj = "E H·D");
        divides("n_heads", n_heads.0, shapes.size("H·D"), "the rows of q_proj")?;
        Ok(Self { n_heads: n_heads.0, q_proj, k_proj, v_proj, o_proj })
    }

    /// Computes attention: `query [B, L, E]`, `key` and `value [B, S, E]` → `[B, L, E]`. `mask`
    /// broadcasts to `[B, H, L, S]`.
    #[pyo3(signature = (query, key, value, mask=None))]
    fn forward(
        &self,
        query: Floats,
        key: Floats,
        value: Floats,
        mask: Option<Floats>,
    ) -> PyResult<Floats> {
        let mut shapes = fit!("q_proj": E = self.q_proj.0.shape()[1];
            query = "B L E", key = "B S E", value = "B S E");
        shapes.set("H", self.n_heads, "n_heads");
        shapes.fit_mask(mask.as_ref(), &["B", "H", "L", "S"])?;
        room("the scores", &shapes.shape(&["B", "H", "L", "S"]))?;
        let [q_proj, k_proj, v_proj, o_proj] =
            [&self.q_proj, &self.k_proj, &self.v_proj, &self.o_proj].map(|x| x.0.clone());
        let n_heads = self.n_heads;
        let layer = rust::MultiHeadAttention { n_heads, q_proj, k_proj, v_proj, o_proj };
        compute(move || layer.forward(&query.0, &key.0, &value.0, optional(&mask)))
    }

    fn __repr__(&self) -> String {
        format!("MultiHeadAttention(n_heads={}, q_proj={:?})", self.n_heads, self.q_proj.0.shape())
    }
}

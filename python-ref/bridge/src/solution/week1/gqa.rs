//! Day 3.

use ndarray::Axis;

use super::{
    attention::check_linear,
    rope::{RopeTables, check_rope},
    rust::gqa as rust,
};
use crate::prelude::*;

exports! {
    fn grouped_query_attention, causal_mask;
    class Linear, GroupedQueryAttention;
}

/// Computes attention: `q [B, H_q, L, D]`, `k` and `v [B, H, S, D]` → `[B, H_q, L, D]`. `mask`
/// broadcasts to `[B, H_q, L, S]`.
#[pyfunction]
#[pyo3(signature = (q, k, v, scale=None, mask=None))]
fn grouped_query_attention(
    q: Floats,
    k: Floats,
    v: Floats,
    scale: Option<Real>,
    mask: Option<Floats>,
) -> PyResult<Floats> {
    let shapes = fit!(q = "B H_q L D", k = "B H S D", v = "B H S D");
    let (heads, kv_heads) = (shapes.size("H_q"), shapes.size("H"));
    refuse_if!(!heads.is_multiple_of(kv_heads); "q", format_args!("shape {:?}", q.0.shape());
        "as many heads as k has, {kv_heads}, or a multiple of that");
    shapes.fit_mask(mask.as_ref(), &["B", "H_q", "L", "S"])?;
    room("the scores", &shapes.shape(&["B", "H_q", "L", "S"]))?;
    compute(move || {
        let scale = scale.map(|scale| scale.0);
        rust::grouped_query_attention(&q.0, &k.0, &v.0, scale, optional(&mask))
    })
}

/// Returns the causal mask `[length, keys]`: 0 keeps a key, −inf removes it.
#[pyfunction]
fn causal_mask(length: Count, keys: Count) -> PyResult<Floats> {
    let (length, keys) = (length.0, keys.0);
    refuse_if!(length > keys; "length", length; "at most as many as keys, {keys}");
    room("the mask", &[length, keys])?;
    compute(move || rust::causal_mask(length, keys))
}

/// A projection with `weight [out, in]` and an optional `bias [out]`.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Linear(Arc<rust::Linear>);

impl Linear {
    pub(crate) fn to_rust(&self) -> rust::Linear {
        (*self.0).clone()
    }

    /// Returns `[out, in]`.
    pub(crate) fn shape(&self) -> &[usize] {
        self.0.weight.shape()
    }
}

#[pymethods]
impl Linear {
    #[new]
    #[pyo3(signature = (weight, bias=None))]
    fn new(weight: Floats, bias: Option<Floats>) -> PyResult<Self> {
        fit!(weight = "out in", bias = "out");
        let bias = bias.map(|bias| bias.0);
        Ok(Self(Arc::new(rust::Linear { weight: weight.0, bias })))
    }

    /// Weight, `[out, in]`.
    #[getter]
    fn weight(&self) -> Floats {
        Floats(self.0.weight.clone())
    }

    /// Bias, `[out]`, or None.
    #[getter]
    fn bias(&self) -> Option<Floats> {
        self.0.bias.clone().map(Floats)
    }

    /// Computes `x · weightᵀ + bias`: `x [..., L, in]` → `[..., L, out]`.
    fn forward(&self, x: Floats) -> PyResult<Floats> {
        check_linear(&x, &self.weight(), None)?;
        let layer = Arc::clone(&self.0);
        compute(move || layer.forward(&x.0))
    }

    fn __repr__(&self) -> String {
        let (shape, bias) = (self.shape(), if self.0.bias.is_some() { "True" } else { "False" });
        format!("Linear(out={}, in={}, bias={bias})", shape[0], shape[1])
    }
}

/// The attention layer of Llama, Qwen2 and Qwen3. `q_norm` and `k_norm` are the weights `[D]` of an
/// RMSNorm. The bridge provides this norm, because the solution's is written on day 4.
#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct GroupedQueryAttention {
    /// Number of query heads, `H_q`.
    n_heads: usize,
    /// Number of key and value heads, `H`.
    n_kv_heads: usize,
    /// Query projection, `[H_q·D, E]`.
    q_proj: Linear,
    /// Key projection, `[H·D, E]`.
    k_proj: Linear,
    /// Value projection, `[H·D, E]`.
    v_proj: Linear,
    /// Output projection, `[E, H_q·D]`.
    o_proj: Linear,
    /// RoPE tables with at least as many positions as the longest sequence.
    rope: RopeTables,
    /// Weight of the query norm, `[D]`, or None.
    q_norm: Option<Floats>,
    /// Weight of the key norm, `[D]`, or None.
    k_norm: Option<Floats>,
    /// Number that is added to a norm's mean square, so that its root is not 0.
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
            rope: Arc::clone(&self.rope.0),
        }
    }

    /// Returns the width of the layer, `E`.
    pub(super) fn width(&self) -> usize {
        self.q_proj.shape()[1]
    }

    /// Checks the input of the layer.
    pub(super) fn check(&self, x: &Floats, mask: Option<&Floats>) -> PyResult<()> {
        let mut shapes = fit!("q_proj": E = self.width(); x = "B L E");
        shapes.set("H_q", self.n_heads, "n_heads");
        shapes.fit_mask(mask, &["B", "H_q", "L", "L"])?;
        let (length, positions) = (shapes.size("L"), self.rope.positions());
        refuse_if!(length > positions; "x", format_args!("shape {:?}", x.0.shape());
            "at most {positions} positions, as in rope");
        room("the scores", &shapes.shape(&["B", "H_q", "L", "L"]))
    }
}

#[pymethods]
impl GroupedQueryAttention {
    #[new]
    #[pyo3(
        signature = (
            n_heads, n_kv_heads, q_proj, k_proj, v_proj, o_proj, rope, q_norm=None, k_norm=None,
            norm_eps=Real(1e-6)
        ),
        text_signature = "(n_heads, n_kv_heads, q_proj, k_proj, v_proj, o_proj, rope, \
                          q_norm=None, k_norm=None, norm_eps=1e-6)"
    )]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn new(
        n_heads: Count,
        n_kv_heads: Count,
        q_proj: Linear,
        k_proj: Linear,
        v_proj: Linear,
        o_proj: Linear,
        rope: RopeTables,
        q_norm: Option<Floats>,
        k_norm: Option<Floats>,
        norm_eps: Real,
    ) -> PyResult<Self> {
        let (n_heads, n_kv_heads) = (n_heads.0, n_kv_heads.0);
        let mut shapes = Shapes::default();
        shapes.fit_shape("q_proj", "H_q·D E", q_proj.shape())?;
        divides("n_heads", n_heads, shapes.size("H_q·D"), "the rows of q_proj")?;
        divides("n_kv_heads", n_kv_heads, n_heads, "n_heads")?;
        let head_dim = shapes.size("H_q·D") / n_heads;
        shapes.set("H·D", n_kv_heads * head_dim, "n_kv_heads times the head size of q_proj");
        shapes.fit_shape("k_proj", "H·D E", k_proj.shape())?;
        shapes.fit_shape("v_proj", "H·D E", v_proj.shape())?;
        shapes.fit_shape("o_proj", "E H_q·D", o_proj.shape())?;
        check_rope("q_proj", head_dim, &rope)?;
        shapes.set("D", head_dim, "q_proj");
        fit!(shapes, q_norm = "D", k_norm = "D");
        Ok(Self {
            n_heads,
            n_kv_heads,
            q_proj,
            k_proj,
            v_proj,
            o_proj,
            rope,
            q_norm,
            k_norm,
            norm_eps: norm_eps.0,
        })
    }

    /// Computes self-attention: `x [B, L, E]` → `[B, L, E]`. `mask` broadcasts to `[B, H_q, L, L]`.
    #[pyo3(signature = (x, mask=None))]
    fn forward(&self, x: Floats, mask: Option<Floats>) -> PyResult<Floats> {
        self.check(&x, mask.as_ref())?;
        let layer = self.to_rust();
        compute(move || layer.forward(&x.0, optional(&mask)))
    }

    fn __repr__(&self) -> String {
        let (heads, kv_heads) = (self.n_heads, self.n_kv_heads);
        let head_dim = self.q_proj.shape()[0] / heads;
        format!(
            "GroupedQueryAttention(n_heads={heads}, n_kv_heads={kv_heads}, head_dim={head_dim}, \
             hidden_size={})",
            self.width()
        )
    }
}

/// Returns an RMSNorm over the last axis that computes in f64, or None without a weight.
fn head_norm(weight: &Option<Floats>, eps: f32) -> Option<rust::HeadNorm> {
    let weight = weight.as_ref()?.0.clone();
    Some(Box::new(move |x: &Tensor| {
        let (mut x, last) = (x.clone(), Axis(x.ndim() - 1));
        for mut row in x.lanes_mut(last) {
            let squares = row.fold(0.0, |sum, &v| sum + f64::from(v).powi(2));
            let mean_square = squares / row.len() as f64;
            let root = (mean_square + f64::from(eps)).sqrt();
            row.mapv_inplace(|v| (f64::from(v) / root) as f32);
        }
        x * &weight
    }))
}

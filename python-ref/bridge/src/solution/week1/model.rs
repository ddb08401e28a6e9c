//! Day 5.

use std::collections::HashMap;

use pyo3::types::PyDict;

use super::{
    gqa::{GroupedQueryAttention, Linear},
    mlp::SwiGlu,
    norm::RmsNorm,
    rust::{gqa::causal_mask, model as rust},
};
use crate::{kit::named, prelude::*};

exports! { class Embedding, TransformerBlock, Model; }

/// A table with one row per token: `weight [V, E]`.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Embedding(Arc<rust::Embedding>);

impl Embedding {
    fn shape(&self) -> &[usize] {
        self.0.weight.shape()
    }
}

#[pymethods]
impl Embedding {
    #[new]
    fn new(weight: Floats) -> PyResult<Self> {
        fit!(weight = "V E");
        Ok(Self(Arc::new(rust::Embedding { weight: weight.0 })))
    }

    /// Weight, `[V, E]`.
    #[getter]
    fn weight(&self) -> Floats {
        Floats(self.0.weight.clone())
    }

    /// Embeds tokens: `[B, L]` → `[B, L, E]`.
    fn forward(&self, tokens: Ids<2>) -> PyResult<Floats> {
        let tokens = tokens.into_rows();
        vocabulary("tokens", &tokens, self.shape()[0])?;
        room("the result", &[tokens.nrows(), tokens.ncols(), self.shape()[1]])?;
        let embedding = Arc::clone(&self.0);
        compute(move || embedding.forward(&tokens))
    }

    /// Applies the table as a tied output head: `x [..., L, E]` → `[..., L, V]`.
    fn as_output(&self, x: Floats) -> PyResult<Floats> {
        let shapes = fit!("weight": V = self.shape()[0], E = self.shape()[1]; x = "... L E");
        room("the logits", &shapes.shape(&["L", "V"]))?;
        let embedding = Arc::clone(&self.0);
        compute(move || embedding.as_output(&x.0))
    }

    fn __repr__(&self) -> String {
        format!("Embedding(vocab_size={}, hidden_size={})", self.shape()[0], self.shape()[1])
    }
}

/// One layer: attention and MLP, each with a norm before it and a residual connection around it.
#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct TransformerBlock {
    /// Norm before attention.
    input_norm: RmsNorm,
    /// Self-attention.
    attention: GroupedQueryAttention,
    /// Norm before the MLP.
    post_attention_norm: RmsNorm,
    /// The gated MLP.
    mlp: SwiGlu,
}

impl TransformerBlock {
    fn to_rust(&self) -> rust::TransformerBlock {
        rust::TransformerBlock {
            input_norm: self.input_norm.to_rust(),
            attention: self.attention.to_rust(),
            post_attention_norm: self.post_attention_norm.to_rust(),
            mlp: self.mlp.to_rust(),
        }
    }
}

#[pymethods]
impl TransformerBlock {
    #[new]
    fn new(
        input_norm: RmsNorm,
        attention: GroupedQueryAttention,
        post_attention_norm: RmsNorm,
        mlp: SwiGlu,
    ) -> PyResult<Self> {
        let mut shapes = Shapes::default();
        shapes.set("E", attention.width(), "attention");
        shapes.fit_shape("input_norm", "E", input_norm.shape())?;
        shapes.fit_shape("post_attention_norm", "E", post_attention_norm.shape())?;
        shapes.fit_shape("mlp", "E", &[mlp.width()])?;
        Ok(Self { input_norm, attention, post_attention_norm, mlp })
    }

    /// Computes the block: `x [B, L, E]` → `[B, L, E]`. `mask` broadcasts to `[B, H_q, L, L]`.
    #[pyo3(signature = (x, mask=None))]
    fn forward(&self, x: Floats, mask: Option<Floats>) -> PyResult<Floats> {
        self.attention.check(&x, mask.as_ref())?;
        let block = self.to_rust();
        compute(move || block.forward(&x.0, optional(&mask)))
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("TransformerBlock(hidden_size={})", self.attention.width()))
    }
}

/// A decoder-only transformer.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Model(pub Arc<rust::Model>);

impl Model {
    /// Checks that the RoPE tables and memory are enough for `rows` sequences of `length` tokens.
    pub(super) fn fits(&self, rows: usize, length: usize) -> PyResult<()> {
        let config = &self.0.config;
        let positions = self.0.blocks.iter().map(|block| block.attention.rope.cos.shape()[0]).min();
        if let Some(positions) = positions.filter(|positions| length > *positions) {
            let expected = format!("at most {positions}, the positions of rope");
            return Err(wrong("tokens", format_args!("{length} tokens"), expected));
        }
        room("the scores", &[rows, config.n_heads, length, length])?;
        room("the logits", &[rows, length, config.vocab_size])
    }

    /// Returns `tokens [B, L]`, after checking that a pass over its rows can be computed.
    fn checked(&self, tokens: Ids<2>) -> PyResult<ndarray::Array2<u32>> {
        let tokens = tokens.into_rows();
        refuse_if!(tokens.nrows() == 0; "tokens", format_args!("shape {:?}", tokens.shape());
            "[B, L] with B of at least 1");
        for row in tokens.rows() {
            self.check(tokens.nrows(), &row.to_vec())?;
        }
        Ok(tokens)
    }
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (config, embedding, blocks, norm, lm_head=None))]
    fn new(
        config: &ModelConfig,
        embedding: Embedding,
        blocks: Vec<TransformerBlock>,
        norm: RmsNorm,
        lm_head: Option<Linear>,
    ) -> PyResult<Self> {
        let mut shapes = Shapes::default();
        shapes.set("V", config.0.vocab_size, "config");
        shapes.set("E", config.0.hidden_size, "config");
        shapes.fit_shape("embedding", "V E", embedding.shape())?;
        for block in &blocks {
            shapes.fit_shape("blocks", "E", &[block.attention.width()])?;
        }
        shapes.fit_shape("norm", "E", norm.shape())?;
        if let Some(head) = &lm_head {
            shapes.fit_shape("lm_head", "V E", head.shape())?;
        }
        Ok(Self(Arc::new(rust::Model {
            config: config.0.clone(),
            embedding: (*embedding.0).clone(),
            blocks: blocks.iter().map(TransformerBlock::to_rust).collect(),
            norm: norm.to_rust(),
            lm_head: lm_head.as_ref().map(Linear::to_rust),
        })))
    }

    /// Builds a model from named arrays. The names are those of Hugging Face checkpoints.
    #[staticmethod]
    fn build(config: &ModelConfig, weights: HashMap<String, Floats>) -> PyResult<Self> {
        let config = config.0.clone();
        let positions = config.max_positions.min(rust::MAX_CONTEXT);
        room("the tables of positions", &[positions, config.head_dim])?;
        let model = call(move || {
            let mut get = |name: &str, shape: &[usize]| Ok(named(&weights, name, shape)?.0.clone());
            rust::Model::build(config, &mut get)
        })?;
        Ok(Self(Arc::new(model.map_err(wrong_argument("weights"))?)))
    }

    /// The settings in the checkpoint's `config.json`.
    #[getter]
    fn config(&self) -> ModelConfig {
        ModelConfig(self.0.config.clone())
    }

    /// Returns the maximum length of a sequence, in tokens.
    fn context(&self) -> PyResult<usize> {
        let model = Arc::clone(&self.0);
        call(move || model.context())
    }

    /// Computes the logits of every position: `[B, L]` → `[B, L, V]`.
    fn forward(&self, tokens: Ids<2>) -> PyResult<Floats> {
        let tokens = self.checked(tokens)?;
        let model = Arc::clone(&self.0);
        compute(move || model.forward(&tokens))
    }

    /// Returns the output of each part of the model, in the order of computation.
    ///
    /// The parts are `embedding`, then for each layer `layers.0.input_norm`, `.attention`,
    /// `.post_attention_norm`, `.mlp` and `layers.0` itself, then `norm` and `logits`. The input of
    /// each part is the output of the solution's own parts before it. Only `logits` is computed by
    /// `forward`.
    fn activations<'py>(&self, py: Python<'py>, tokens: Ids<2>) -> PyResult<Bound<'py, PyDict>> {
        let tokens = self.checked(tokens)?;
        let model = Arc::clone(&self.0);
        let named = PyDict::new(py);
        for (name, value) in call(move || activations(&model, &tokens))? {
            named.set_item(name, Floats(value))?;
        }
        Ok(named)
    }

    fn __repr__(&self) -> String {
        let c = &self.0.config;
        format!(
            "Model({:?}, layers={}, hidden_size={}, vocab_size={})",
            c.family,
            self.0.blocks.len(),
            c.hidden_size,
            c.vocab_size
        )
    }
}

fn activations(model: &rust::Model, tokens: &ndarray::Array2<u32>) -> Vec<(String, Tensor)> {
    let mut named = Vec::new();
    let mut x = model.embedding.forward(tokens);
    named.push(("embedding".to_owned(), x.clone()));
    let mask = causal_mask(tokens.ncols(), tokens.ncols());
    for (i, block) in model.blocks.iter().enumerate() {
        let mut set = |part: &str, value| named.push((format!("layers.{i}{part}"), value));
        let normed = block.input_norm.forward(&x);
        let attended = block.attention.forward(&normed, Some(&mask));
        set(".input_norm", normed);
        let middle = &x + &attended;
        set(".attention", attended);
        let normed = block.post_attention_norm.forward(&middle);
        let mlp = block.mlp.forward(&normed);
        set(".post_attention_norm", normed);
        set(".mlp", mlp);
        x = block.forward(&x, Some(&mask));
        set("", x.clone());
    }
    named.push(("norm".to_owned(), model.norm.forward(&x)));
    named.push(("logits".to_owned(), model.forward(tokens)));
    named
}

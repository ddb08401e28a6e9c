//! Day 5.

use std::{collections::HashMap, sync::Arc};

use anyhow::{Context, ensure};
use pyo3::{prelude::*, types::PyDict};
use tiny_llm_formats::Tensor;

use super::{
    gqa::{GroupedQueryAttention, Linear},
    mlp::SwiGlu,
    norm::RmsNorm,
    rust::{gqa::causal_mask, model as rust},
};
use crate::{
    convert::{Any, Floats, Ids, Matrix, Sequences, compute, optional},
    kit::ModelConfig,
    panics::{call, value_error},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Embedding>()?;
    m.add_class::<TransformerBlock>()?;
    m.add_class::<Model>()
}

#[pyclass(frozen, get_all, new = "from_fields", from_py_object)]
#[derive(Clone)]
pub(crate) struct Embedding {
    weight: Matrix,
}

impl Embedding {
    fn to_rust(&self) -> rust::Embedding {
        rust::Embedding { weight: self.weight.0.clone() }
    }
}

#[pymethods]
impl Embedding {
    fn forward(&self, py: Python<'_>, tokens: Ids<2, 2>) -> PyResult<Any> {
        let embedding = self.to_rust();
        let tokens = tokens.into_rows();
        compute(py, || embedding.forward(&tokens))
    }

    fn as_output(&self, py: Python<'_>, x: Any) -> PyResult<Any> {
        let embedding = self.to_rust();
        compute(py, || embedding.as_output(&x.0))
    }
}

#[pyclass(frozen, get_all, new = "from_fields", from_py_object)]
#[derive(Clone)]
pub(crate) struct TransformerBlock {
    input_norm: RmsNorm,
    attention: GroupedQueryAttention,
    post_attention_norm: RmsNorm,
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
    #[pyo3(signature = (x, mask=None))]
    fn forward(&self, py: Python<'_>, x: Sequences, mask: Option<Any>) -> PyResult<Any> {
        let block = self.to_rust();
        compute(py, || block.forward(&x.0, optional(&mask)))
    }
}

#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Model(pub Arc<rust::Model>);

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
    ) -> Self {
        Self(Arc::new(rust::Model {
            config: config.0.clone(),
            embedding: embedding.to_rust(),
            blocks: blocks.iter().map(TransformerBlock::to_rust).collect(),
            norm: norm.to_rust(),
            lm_head: lm_head.as_ref().map(Linear::to_rust),
        }))
    }

    /// A model from named arrays; the names are those of Hugging Face checkpoints.
    #[staticmethod]
    fn build(
        py: Python<'_>,
        config: &ModelConfig,
        weights: HashMap<String, Any>,
    ) -> PyResult<Self> {
        let config = config.0.clone();
        let mut get = |name: &str, shape: &[usize]| {
            let weight = &weights.get(name).with_context(|| format!("tensor {name}: not found"))?.0;
            ensure!(
                weight.shape() == shape,
                "tensor {name}: found shape {:?}, expected {shape:?}",
                weight.shape()
            );
            Ok(weight.clone())
        };
        let model = call(py, || rust::Model::build(config, &mut get))?;
        Ok(Self(Arc::new(model.map_err(value_error)?)))
    }

    #[getter]
    fn config(&self) -> ModelConfig {
        ModelConfig(self.0.config.clone())
    }

    /// The longest sequence.
    fn context(&self, py: Python<'_>) -> PyResult<usize> {
        call(py, || self.0.context())
    }

    pub(crate) fn forward(&self, py: Python<'_>, tokens: Ids<2, 2>) -> PyResult<Any> {
        let tokens = tokens.into_rows();
        for row in tokens.rows() {
            let row = row.to_vec();
            call(py, || self.0.check(&row))?.map_err(value_error)?;
        }
        compute(py, || self.0.forward(&tokens))
    }

    /// What each part of the model gives, in the order of computation: `embedding`, then for each
    /// layer `layers.0.input_norm`, `.attention`, `.post_attention_norm`, `.mlp` and `layers.0`
    /// itself, then `norm` and `logits`. Each part gets what the solution's own parts before it
    /// gave; `logits` alone is the result of `forward`.
    fn activations<'py>(&self, py: Python<'py>, tokens: Ids<2, 2>) -> PyResult<Bound<'py, PyDict>> {
        let named = PyDict::new(py);
        let set = |name: &str, value: &Tensor| named.set_item(name, Floats::<1, 32>(value.clone()));
        let model = &*self.0;
        let tokens = tokens.into_rows();
        let mut x = call(py, || model.embedding.forward(&tokens))?;
        set("embedding", &x)?;
        let mask = call(py, || causal_mask(tokens.ncols(), tokens.ncols()))?;
        for (i, block) in model.blocks.iter().enumerate() {
            let set = |part: &str, value: &Tensor| set(&format!("layers.{i}{part}"), value);
            let normed = call(py, || block.input_norm.forward(&x))?;
            set(".input_norm", &normed)?;
            let attended = call(py, || block.attention.forward(&normed, Some(&mask)))?;
            set(".attention", &attended)?;
            let middle = &x + &attended;
            let normed = call(py, || block.post_attention_norm.forward(&middle))?;
            set(".post_attention_norm", &normed)?;
            set(".mlp", &call(py, || block.mlp.forward(&normed))?)?;
            x = call(py, || block.forward(&x, Some(&mask)))?;
            set("", &x)?;
        }
        set("norm", &call(py, || model.norm.forward(&x))?)?;
        set("logits", &call(py, || model.forward(&tokens))?)?;
        Ok(named)
    }
}

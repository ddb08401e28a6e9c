//! Day 1.

use std::{collections::HashMap, sync::Arc};

use anyhow::{Context, ensure};
use pyo3::prelude::*;
use tiny_llm_formats::tensor::tensor;

use super::{
    cache::CacheType,
    rust::{
        cache::{CacheShape, DenseCache},
        kernels::Rung,
        load::{self, Rope},
        matrix::Matrix,
        model as rust,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rope::RopeLayout,
        rows::Row,
    },
};
use crate::{
    convert::{Any, Floats},
    kit::ModelConfig,
    panics::{call, value_error},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Model>()
}

/// Plain kernels, one thread, day 1's attention: nothing of a later day.
pub(super) fn plan() -> Plan {
    Plan { rung: Rung::Naive, attention: AttentionKind::TwoPass, team: Team::new(1) }
}

#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Model(pub Arc<rust::Model>);

#[pymethods]
impl Model {
    /// A model from named arrays; the names are those of Hugging Face checkpoints.
    #[staticmethod]
    #[pyo3(signature = (config, weights, interleaved=false))]
    fn build(
        py: Python<'_>,
        config: &ModelConfig,
        weights: HashMap<String, Any>,
        interleaved: bool,
    ) -> PyResult<Self> {
        let config = config.0.clone();
        let layout = if interleaved { RopeLayout::Interleaved } else { RopeLayout::HalfSplit };
        let rope = Rope { layout, factors: Vec::new() };
        let mut get = |name: &str, shape: &[usize]| {
            let weight = weights.get(name).with_context(|| format!("tensor {name}: not found"))?;
            ensure!(
                weight.0.shape() == shape,
                "tensor {name}: found shape {:?}, expected {shape:?}",
                weight.0.shape()
            );
            let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
            Ok(Matrix::from_f32(rows, cols, &weight.to_vec()))
        };
        let model = call(py, || load::build(config, &rope, usize::MAX, &mut get))?;
        Ok(Self(Arc::new(model.map_err(value_error)?)))
    }

    /// Runs passes of rows `(token, position, sequence, wants logits)`, one after the other, on an
    /// empty cache. Logits `[n, V]` of the rows that want them, in order.
    #[pyo3(signature = (passes, sequences=1, cache_type=CacheType::F32))]
    fn forward(
        &self,
        py: Python<'_>,
        passes: Vec<Vec<(u32, usize, usize, bool)>>,
        sequences: usize,
        cache_type: CacheType,
    ) -> PyResult<Any> {
        let c = &self.0.config;
        let shape = CacheShape {
            layers: c.n_layers,
            sequences,
            kv_heads: c.n_kv_heads,
            capacity: c.max_positions,
            head_dim: c.head_dim,
        };
        let logits = call(py, || {
            let (mut cache, plan, mut work) =
                (DenseCache::new(shape, cache_type.into()), plan(), rust::Workspace::default());
            let mut all = Vec::new();
            for pass in passes {
                let row =
                    |(token, position, sequence, logits)| Row { token, position, sequence, logits };
                let rows: Vec<Row> = pass.into_iter().map(row).collect();
                self.0.check(&rows, &cache)?;
                all.extend_from_slice(self.0.forward(&rows, &mut cache, &plan, &mut work));
            }
            Ok(all)
        })?;
        let logits = logits.map_err(value_error)?;
        Ok(Floats(tensor(&[logits.len() / c.vocab_size, c.vocab_size], logits)))
    }
}

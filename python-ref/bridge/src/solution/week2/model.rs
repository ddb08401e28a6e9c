//! Day 1.

use std::collections::HashMap;

use super::{
    cache::{CacheType, check},
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
use crate::{kit::named, prelude::*};

exports! { class Model; }

/// Returns a plan that needs no later day: plain kernels, one thread, day 1's attention.
pub(crate) fn plan() -> Plan {
    Plan { kernels: Rung::Naive.into(), attention: AttentionKind::TwoPass, team: Team::new(1) }
}

/// A decoder. One pass computes several rows, each of which is a token at a position of a sequence.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Model(pub Arc<rust::Model>);

/// A row: token, position, sequence, and whether it requests logits.
pub(crate) type Asked = (Count, Count, Count, bool);

#[pymethods]
impl Model {
    /// Builds a model from named arrays. The names are those of Hugging Face checkpoints.
    #[staticmethod]
    #[pyo3(signature = (config, weights, interleaved=false))]
    fn build(
        config: &ModelConfig,
        weights: HashMap<String, Floats>,
        interleaved: bool,
    ) -> PyResult<Self> {
        let config = config.0.clone();
        room("the tables of positions", &[config.max_positions, config.head_dim])?;
        let layout = if interleaved { RopeLayout::Interleaved } else { RopeLayout::HalfSplit };
        let model = call(move || {
            let rope = Rope { layout, factors: Vec::new() };
            let mut get = |name: &str, shape: &[usize]| {
                let weight = named(&weights, name, shape)?;
                let (rows, cols) =
                    if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
                Ok(Matrix::from_f32(rows, cols, &weight.to_vec()))
            };
            load::build(config, &rope, usize::MAX, &mut get)
        })?;
        Ok(Self(Arc::new(model.map_err(wrong_argument("weights"))?)))
    }

    /// Runs passes of rows `(token, position, sequence, logits)` on an empty cache. Returns the
    /// logits `[n, V]` of the rows whose `logits` is true.
    #[pyo3(
        signature = (passes, sequences=Count(1), cache_type=CacheType::F32),
        text_signature = "($self, passes, sequences=1, cache_type=...)"
    )]
    fn forward(
        &self,
        passes: Vec<Vec<Asked>>,
        sequences: Count,
        cache_type: CacheType,
    ) -> PyResult<Floats> {
        let (plan, mut work) = (plan(), rust::Workspace::default());
        self.passes(passes, sequences, cache_type, move |model, rows, cache, logits| {
            logits.extend_from_slice(model.forward(rows, cache, &plan, &mut work));
            Ok(())
        })
    }

    fn __repr__(&self) -> String {
        let c = &self.0.config;
        format!(
            "Model({:?}, layers={}, hidden_size={}, vocab_size={})",
            c.family, c.n_layers, c.hidden_size, c.vocab_size
        )
    }
}

impl Model {
    /// Runs passes of rows on an empty cache. The closure `pass` computes one pass, and appends the
    /// logits of the rows that request them.
    pub(crate) fn passes(
        &self,
        passes: Vec<Vec<Asked>>,
        sequences: Count,
        cache_type: CacheType,
        mut pass: impl FnMut(&rust::Model, &[Row], &mut DenseCache, &mut Vec<f32>) -> anyhow::Result<()>
        + Send
        + 'static,
    ) -> PyResult<Floats> {
        let c = &self.0.config;
        at_least_one("sequences", sequences.0)?;
        let shape = CacheShape::of(c, sequences.0, c.max_positions);
        check(shape, cache_type)?;
        let passes = passes.into_iter().map(|pass| pass.into_iter().map(row).collect());
        let passes = passes.collect::<PyResult<Vec<Vec<Row>>>>()?;
        let vocab_size = c.vocab_size;
        vocabulary("passes", passes.iter().flatten().map(|row| &row.token), vocab_size)?;
        let wanted = passes.iter().flatten().filter(|row| row.logits).count();
        room("the logits", &[wanted, vocab_size])?;
        let model = Arc::clone(&self.0);
        let logits = call(move || {
            let (mut cache, mut logits) = (DenseCache::new(shape, cache_type.into()), Vec::new());
            for rows in passes {
                model.check(&rows, &cache)?;
                pass(&model, &rows, &mut cache, &mut logits)?;
            }
            anyhow::Ok(logits)
        })?;
        let logits = logits.map_err(wrong_argument("passes"))?;
        Ok(Floats(tensor(&[logits.len() / vocab_size, vocab_size], logits)))
    }
}

fn row((token, position, sequence, logits): Asked) -> PyResult<Row> {
    let Ok(token) = u32::try_from(token.0) else {
        let problem = format!("passes: found token {}, expected at most {}", token.0, u32::MAX);
        return Err(PyValueError::new_err(problem));
    };
    Ok(Row { token, position: position.0, sequence: sequence.0, logits })
}

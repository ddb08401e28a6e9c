//! Day 1. The model's forward pass over rows. A row is one token. The rows may be a prompt, a part
//! of a prompt, one new token, or tokens of several requests.
//!
//! Tasks here: week2-day1 task 3 (`Model::forward`, `Model::attention`). Everything else is
//! provided.

use anyhow::{bail, ensure};
use tiny_llm_formats::config::ModelConfig;

use super::{
    attention::attend,
    cache::KvCache,
    input::{Input, Prepared},
    kernels::{
        naive::decode_row,
        vector::{rms_norm, rms_norm_in_place, silu_gate},
    },
    layer::{DenseMlp, Layer, Mlp},
    matrix::Matrix,
    plan::{Plan, ROWS},
    rope::{RopeLayout, RopeTable},
    rows::{Queries, Row},
};

/// A decoder whose matrices are in a mapped file.
#[derive(Debug, Clone)]
pub struct Model {
    /// Sizes and constants of the model.
    pub config: ModelConfig,
    /// Token embedding, `[V, E]`.
    pub embedding: Matrix,
    /// Layers, first to last.
    pub layers: Vec<Layer>,
    /// Weight of the norm before the output head, `[E]`.
    pub norm: Vec<f32>,
    /// Output head, `[V, E]`. `None` if the embedding is also the output head.
    pub lm_head: Option<Matrix>,
    /// RoPE's cosines and sines for every position of the context.
    pub rope: RopeTable,
    /// Which elements of a head are rotated together.
    pub rope_layout: RopeLayout,
}

/// All buffers of a forward pass. The next pass reuses them, so that decoding a token doesn't
/// allocate.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Residual stream, `[T, E]`.
    x: Vec<f32>,
    /// The input of the next matrix products.
    input: Input,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    /// Output of attention or of the MLP, `[T, E]`. It is added to the residual stream.
    delta: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    logits: Vec<f32>,
}

impl Workspace {
    /// Returns the logits of the last forward pass.
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }
}

impl Model {
    /// Returns the total size of [`Model::matrices`] in bytes. A forward pass reads each matrix
    /// once. The embedding counts only if it is also the output head.
    #[must_use]
    pub fn weight_bytes(&self) -> u64 {
        self.matrices().map(|matrix| matrix.bytes().len() as u64).sum()
    }

    /// Returns every matrix that a forward pass multiplies by.
    pub fn matrices(&self) -> impl Iterator<Item = &Matrix> {
        let head = self.lm_head.as_ref().unwrap_or(&self.embedding);
        self.layers.iter().flat_map(Layer::matrices).chain([head])
    }

    /// Checks that [`Model::forward`] can run on these rows.
    ///
    /// # Errors
    /// - There are no rows.
    /// - A row's token, position or sequence is out of range.
    /// - A row's position is not the next one of its sequence.
    pub fn check(&self, rows: &[Row], cache: &impl KvCache) -> anyhow::Result<()> {
        check(&self.config, rows, cache)
    }

    /// Runs the model on `rows` (at least one) and stores their keys and values in `cache`. Returns
    /// the logits `[n, V]` of the `n` rows that request logits, in order.
    ///
    /// The rows of a sequence must have consecutive positions, in order. The first of these
    /// positions must be the sequence's length in the cache ([`KvCache::len`]).
    ///
    /// # Panics
    /// If a row's token, position or sequence is out of range. Also if a row's position is not the
    /// next one of its sequence. Call [`Model::check`] first to get an error instead of a panic.
    pub fn forward<'w>(
        &self,
        rows: &[Row],
        cache: &mut impl KvCache,
        plan: &Plan,
        work: &'w mut Workspace,
    ) -> &'w [f32] {
        todo!("week2-day1 task 3: Model::forward")
    }

    /// Computes the attention of layer `index`: `work.x [T, E]` → `work.delta [T, E]`. The steps
    /// are the norm, the projections, the norms of the heads, RoPE, storing keys and values,
    /// attention, and the output projection. A row sees its own sequence up to and including its
    /// own position.
    fn attention(
        &self,
        index: usize,
        rows: &[Row],
        cache: &mut impl KvCache,
        plan: &Plan,
        work: &mut Workspace,
    ) {
        todo!("week2-day1 task 3: Model::attention")
    }

    /// Computes the norm and the MLP of a layer: `work.x [T, E]` → `work.delta [T, E]`.
    fn mlp(&self, layer: &Layer, plan: &Plan, work: &mut Workspace) {
        match &layer.mlp {
            Mlp::Dense(mlp) => self.dense_mlp(mlp, &layer.mlp_norm, plan, work),
        }
    }

    /// Computes the norm and the MLP of a layer whose MLP is dense, as in week 1.
    fn dense_mlp(&self, mlp: &DenseMlp, norm: &[f32], plan: &Plan, work: &mut Workspace) {
        let DenseMlp { gate_proj, up_proj, down_proj } = mlp;
        let input = self.normalised(&work.x, norm, &[gate_proj, up_proj], plan, &mut work.input);
        let (n, size) = (input.rows, gate_proj.rows);
        work.gate.resize(n * size, 0.0);
        work.up.resize(n * size, 0.0);
        plan.products(input, [(gate_proj, &mut work.gate), (up_proj, &mut work.up)]);
        work.input.resize(n, size);
        let (gate, up) = (&work.gate, &work.up);
        plan.team.parallel_rows(&mut work.input.values, size, ROWS, |t, out| {
            let at = t * size..(t + 1) * size;
            silu_gate(&gate[at.clone()], &up[at], out);
        });
        plan.matmul(down_proj, &mut work.input, &mut work.delta);
    }

    /// Normalises `x [T, E]` into `input`, and prepares `input` for products with `weights`.
    fn normalised<'a>(
        &self,
        x: &[f32],
        norm: &[f32],
        weights: &[&Matrix],
        plan: &Plan,
        input: &'a mut Input,
    ) -> Prepared<'a> {
        let e = self.config.hidden_size;
        input.resize(x.len() / e, e);
        plan.team.parallel_rows(&mut input.values, e, ROWS, |t, out| {
            rms_norm(&x[t * e..][..e], norm, self.config.rms_norm_eps, out);
        });
        plan.prepare(input, weights)
    }
}

/// Performs the checks of [`Model::check`], for any model with this `config`.
pub(crate) fn check(
    config: &ModelConfig,
    rows: &[Row],
    cache: &impl KvCache,
) -> anyhow::Result<()> {
    if rows.is_empty() {
        bail!("there are no tokens to start from");
    }
    let capacity = cache.shape().capacity.min(config.max_positions);
    for (i, row) in rows.iter().enumerate() {
        tiny_llm_formats::request::check_tokens([(row.position, row.token)], config.vocab_size)?;
        ensure!(
            row.position < capacity,
            "position {} does not fit into the context of {capacity} tokens",
            row.position
        );
        ensure!(
            row.sequence < cache.shape().sequences,
            "sequence {} is not among the cache's {} sequences",
            row.sequence,
            cache.shape().sequences
        );
        let before = rows[..i].iter().rev().find(|other| other.sequence == row.sequence);
        let next = before.map_or_else(|| cache.len(row.sequence), |other| other.position + 1);
        ensure!(
            row.position == next,
            "sequence {}: found position {}, expected {next}",
            row.sequence,
            row.position
        );
    }
    Ok(())
}

/// Computes `x += delta`, both `[T, E]`.
pub(crate) fn add_rows(x: &mut [f32], delta: &[f32], e: usize, plan: &Plan) {
    plan.team.parallel_rows(x, e, ROWS, |t, x| {
        x.iter_mut().zip(&delta[t * e..]).for_each(|(x, d)| *x += d);
    });
}

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
        // SOLUTION week2-day1 task 3
        let c = &self.config;
        let (n, e) = (rows.len(), c.hidden_size);
        plan.team.enter();
        work.x.resize(n * e, 0.0);
        plan.team.parallel_rows(&mut work.x, e, 1, |t, x| {
            decode_row(&self.embedding, rows[t].token as usize, x);
        });
        for (i, layer) in self.layers.iter().enumerate() {
            self.attention(i, rows, cache, plan, work);
            add_rows(&mut work.x, &work.delta, e, plan);
            self.mlp(layer, plan, work);
            add_rows(&mut work.x, &work.delta, e, plan);
        }
        for row in rows {
            cache.advance(row.sequence, row.position);
        }
        // The head computes only the rows that request logits.
        let wanted = rows.iter().filter(|row| row.logits).count();
        work.input.resize(wanted, e);
        let x = work.x.chunks_exact(e).zip(rows).filter(|(_, row)| row.logits);
        for ((x, _), out) in x.zip(work.input.values.chunks_exact_mut(e)) {
            rms_norm(x, &self.norm, c.rms_norm_eps, out);
        }
        work.logits.resize(wanted * c.vocab_size, 0.0);
        plan.matmul(
            self.lm_head.as_ref().unwrap_or(&self.embedding),
            &mut work.input,
            &mut work.logits,
        );
        &work.logits
        // END SOLUTION
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
        // SOLUTION week2-day1 task 3
        let (c, layer) = (&self.config, &self.layers[index]);
        let (n, d, group) = (rows.len(), c.head_dim, c.n_heads / c.n_kv_heads);
        let (q_size, kv_size) = (c.n_heads * d, c.n_kv_heads * d);
        let projections =
            [&layer.q_proj, &layer.k_proj, &layer.v_proj].map(|linear| &linear.weight);
        let norm = &layer.attention_norm;
        let input = self.normalised(&work.x, norm, &projections, plan, &mut work.input);
        work.q.resize(n * q_size, 0.0);
        work.k.resize(n * kv_size, 0.0);
        work.v.resize(n * kv_size, 0.0);
        let [q, k, v] = projections;
        plan.products(input, [(q, &mut work.q), (k, &mut work.k), (v, &mut work.v)]);
        for (linear, out) in [
            (&layer.q_proj, &mut work.q),
            (&layer.k_proj, &mut work.k),
            (&layer.v_proj, &mut work.v),
        ] {
            plan.add_bias(linear, out);
        }
        for (x, norm, size) in
            [(&mut work.q, &layer.q_norm, q_size), (&mut work.k, &layer.k_norm, kv_size)]
        {
            plan.team.parallel_rows(x, size, ROWS, |t, x| {
                if let Some(norm) = norm {
                    x.chunks_exact_mut(d)
                        .for_each(|head| rms_norm_in_place(head, norm, c.rms_norm_eps));
                }
                self.rope.rotate(x, rows[t].position, self.rope_layout);
            });
        }
        for ((row, k), v) in
            rows.iter().zip(work.k.chunks_exact(kv_size)).zip(work.v.chunks_exact(kv_size))
        {
            cache.write(index, row.sequence, row.position, k, v);
        }
        work.input.resize(n, q_size);
        let queries = Queries { rows, q: &work.q, group, head_dim: d };
        attend(plan, cache, index, queries, &mut work.input.values);
        work.delta.resize(n * c.hidden_size, 0.0);
        plan.matmul(&layer.o_proj.weight, &mut work.input, &mut work.delta);
        plan.add_bias(&layer.o_proj, &mut work.delta);
        // END SOLUTION
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

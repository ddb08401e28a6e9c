//! Day 6. The forward pass of a model with experts. Its rows are the [`Row`]s of week 2.

use anyhow::Result;
use tiny_llm_formats::config::mixture::{Clamp, MixtureConfig};

use crate::week2::{
    attention::{attend, tiled_runs},
    cache::KvCache,
    input::{Input, room},
    kernels::{
        naive::decode_row,
        vector::{rms_norm, rms_norm_in_place, silu_gate},
    },
    matrix::Matrix,
    model::{add_rows, check},
    plan::{Plan, ROWS},
    q8_attention::attend_q8_row,
    rope::{RopeLayout, RopeTable},
    rows::{Queries, Row},
    streaming::{MAX_QUERIES, OnlineSoftmax, attend_streaming},
};
use crate::week4::mixture::{
    grouped::{Gathered, combine, group, indexed_matmul},
    layer::{Experts, MixtureLayer, Stack},
    route::route,
    sinks::{attend_with_sinks, begin},
    windows::visible,
};

/// A decoder whose MLPs have many experts, of which each token uses a few.
#[derive(Debug, Clone)]
pub struct MixtureModel {
    /// Sizes and constants.
    pub config: MixtureConfig,
    /// Embedding, `[V, E]`.
    pub embedding: Matrix,
    /// Layers, first to last.
    pub layers: Vec<MixtureLayer>,
    /// Weight of the final RMSNorm, `[E]`.
    pub norm: Vec<f32>,
    /// Output head, `[V, E]`, or `None` if the embedding is also the output head.
    pub lm_head: Option<Matrix>,
    /// RoPE angles for every position of the context.
    pub rope: RopeTable,
    /// Which elements of a head are rotated together.
    pub rope_layout: RopeLayout,
}

/// Results of a pass besides its logits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// The `k` experts that were chosen for each row, `[layers][T · k]`.
    pub chosen: Vec<Vec<usize>>,
    /// The weights of these experts, `[layers][T · k]`.
    pub weights: Vec<Vec<f32>>,
    /// Number of bytes of expert matrices that were read.
    pub expert_bytes: usize,
    /// Number of bytes of all other matrices that were read.
    pub shared_bytes: usize,
}

/// Buffers of a pass, reused by the next pass.
#[derive(Debug, Default)]
pub struct Workspace {
    x: Vec<f32>,
    input: Input,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    delta: Vec<f32>,
    routes: Vec<f32>,
    gathered: Gathered,
    gate: Vec<f32>,
    up: Vec<f32>,
    gated: Vec<f32>,
    down: Vec<f32>,
    logits: Vec<f32>,
    seen: Seen,
}

impl Workspace {
    /// Returns the results of the last pass besides its logits.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Returns the logits `[n, V]` of the `n` rows that requested them.
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }
}

impl MixtureModel {
    /// Returns the size of all matrices in bytes. An embedding that is only used to look up rows
    /// doesn't count.
    #[must_use]
    pub fn weight_bytes(&self) -> u64 {
        self.matrices().map(|matrix| matrix.bytes().len() as u64).sum()
    }

    /// Returns how many bytes of matrices a pass of one row reads. Of each layer's experts, only
    /// `k` are read.
    #[must_use]
    pub fn token_bytes(&self) -> u64 {
        let bytes = |matrices: &mut dyn Iterator<Item = &Matrix>| -> u64 {
            matrices.map(|matrix| matrix.bytes().len() as u64).sum()
        };
        let of_layer = |layer: &MixtureLayer| {
            let (all, Experts { gate, per_token, .. }) =
                (bytes(&mut layer.stacked()), &layer.experts);
            bytes(&mut layer.shared()) + all / gate.matrices.len() as u64 * *per_token as u64
        };
        self.layers.iter().map(of_layer).sum::<u64>() + self.head().bytes().len() as u64
    }

    /// Returns every matrix that a pass may multiply by.
    pub fn matrices(&self) -> impl Iterator<Item = &Matrix> {
        let layers = self.layers.iter().flat_map(|layer| layer.shared().chain(layer.stacked()));
        layers.chain([self.head()])
    }

    fn head(&self) -> &Matrix {
        self.lm_head.as_ref().unwrap_or(&self.embedding)
    }

    /// Checks that [`MixtureModel::forward`] can run on these rows.
    ///
    /// # Errors
    /// If there are no rows. Also if a row's token, position or sequence is out of range, or its
    /// position is not the next one of its sequence.
    pub fn check(&self, rows: &[Row], cache: &impl KvCache) -> Result<()> {
        check(&self.config.base, rows, cache)
    }

    /// Computes the rows and stores their keys and values, like week 2's model. Returns the logits
    /// `[n, V]` of the `n` rows that request them.
    ///
    /// # Panics
    /// If [`MixtureModel::check`] would return an error.
    pub fn forward<'w>(
        &self,
        rows: &[Row],
        cache: &mut impl KvCache,
        plan: &Plan,
        work: &'w mut Workspace,
    ) -> &'w [f32] {
        let c = &self.config.base;
        let (n, e) = (rows.len(), c.hidden_size);
        plan.team.enter();
        work.seen.chosen.clear();
        work.seen.weights.clear();
        (work.seen.expert_bytes, work.seen.shared_bytes) = (0, 0);
        room(&mut work.x, n * e);
        room(&mut work.delta, n * e);
        plan.team.parallel_rows(&mut work.x, e, 1, |t, x| {
            decode_row(&self.embedding, rows[t].token as usize, x);
        });
        for (i, layer) in self.layers.iter().enumerate() {
            self.attention(i, rows, cache, plan, work);
            add_rows(&mut work.x, &work.delta, e, plan);
            self.experts(layer, plan, work);
            add_rows(&mut work.x, &work.delta, e, plan);
            work.seen.shared_bytes += layer.shared().map(|m| m.bytes().len()).sum::<usize>();
        }
        for row in rows {
            cache.advance(row.sequence, row.position);
        }
        let wanted = rows.iter().filter(|row| row.logits).count();
        work.input.resize(wanted, e);
        let x = work.x.chunks_exact(e).zip(rows).filter(|(_, row)| row.logits);
        for ((x, _), out) in x.zip(work.input.values.chunks_exact_mut(e)) {
            rms_norm(x, &self.norm, c.rms_norm_eps, out);
        }
        work.logits.resize(wanted * c.vocab_size, 0.0);
        if wanted == 0 {
            return &work.logits;
        }
        plan.matmul(self.head(), &mut work.input, &mut work.logits);
        work.seen.shared_bytes += self.head().bytes().len();
        &work.logits
    }

    /// Computes attention: `work.x [T, E]` → `work.delta [T, E]`.
    fn attention(
        &self,
        index: usize,
        rows: &[Row],
        cache: &mut impl KvCache,
        plan: &Plan,
        work: &mut Workspace,
    ) {
        let (c, layer) = (&self.config.base, &self.layers[index]);
        let (n, d) = (rows.len(), c.head_dim);
        let (q_size, kv_size) = (c.n_heads * d, c.n_kv_heads * d);
        self.normed(&work.x, &layer.attention_norm, plan, &mut work.input);
        let projections = [&layer.q_proj, &layer.k_proj, &layer.v_proj];
        let input = plan.prepare(&mut work.input, &projections.map(|linear| &linear.weight));
        room(&mut work.q, n * q_size);
        room(&mut work.k, n * kv_size);
        room(&mut work.v, n * kv_size);
        let [q, k, v] = projections.map(|linear| &linear.weight);
        plan.products(input, [(q, &mut work.q), (k, &mut work.k), (v, &mut work.v)]);
        let outputs = [&mut work.q, &mut work.k, &mut work.v];
        projections.iter().zip(outputs).for_each(|(linear, out)| plan.add_bias(linear, out));
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
        let kv = work.k.chunks_exact(kv_size).zip(work.v.chunks_exact(kv_size));
        for (row, (k, v)) in rows.iter().zip(kv) {
            cache.write(index, row.sequence, row.position, k, v);
        }
        work.input.resize(n, q_size);
        let queries = Queries { rows, q: &work.q, group: c.n_heads / c.n_kv_heads, head_dim: d };
        match (&layer.sinks, layer.window) {
            (None, None) => attend(plan, cache, index, queries, &mut work.input.values),
            _ => self.attend(index, queries, cache, plan, &mut work.input.values),
        }
        plan.matmul(&layer.o_proj.weight, &mut work.input, &mut work.delta);
        plan.add_bias(&layer.o_proj, &mut work.delta);
    }

    /// Computes attention like week 2's `attend`, but with sinks and windows: `queries` →
    /// `out [T, H_q·D]`. Uses all threads.
    fn attend(
        &self,
        index: usize,
        queries: Queries<'_>,
        cache: &impl KvCache,
        plan: &Plan,
        out: &mut [f32],
    ) {
        let (layer, Queries { rows, q, group, head_dim: d }) = (&self.layers[index], queries);
        let (width, scale) = (q.len() / rows.len(), 1.0 / (d as f32).sqrt());
        // Number of query heads that a thread processes together: all that share a key head, or an
        // equal part of them.
        let together = (1..=group.min(MAX_QUERIES)).rev().find(|n| group % n == 0).unwrap_or(1);
        plan.team.parallel_tiles(out, width, (1, together * d), |tile| {
            let first = tile.cols().start / d;
            for t in tile.rows() {
                let q = &q[t * width..][tile.cols()];
                let positions = visible(rows[t].position, layer.window);
                let runs = tiled_runs(cache, index, rows[t].sequence, first / group, positions);
                let sinks = layer.sinks.as_ref().map(|sinks| &sinks[first..][..q.len() / d]);
                let out = tile.row_mut(t);
                if cache.holds_q8() {
                    let positions = visible(rows[t].position, layer.window);
                    let mut softmax = [OnlineSoftmax::default(); MAX_QUERIES];
                    let softmax = &mut softmax[..q.len() / d];
                    let sinks = sinks.into_iter().flatten();
                    softmax.iter_mut().zip(sinks).for_each(|(s, &sink)| *s = begin(sink));
                    attend_q8_row(q, positions, softmax, runs, (d, scale), out);
                } else if let Some(sinks) = sinks {
                    attend_with_sinks(q, runs, d, scale, sinks, out);
                } else {
                    attend_streaming(q, runs, d, scale, out);
                }
            }
        });
    }

    /// Computes the experts: `work.x [T, E]` → `work.delta [T, E]`.
    fn experts(&self, layer: &MixtureLayer, plan: &Plan, work: &mut Workspace) {
        let Experts { router, routing, per_token, gate, up, down, clamp } = &layer.experts;
        let (k, experts) = (*per_token, gate.matrices.len());
        self.normed(&work.x, &layer.mlp_norm, plan, &mut work.input);
        let rows = work.input.rows;
        work.routes.resize(rows * experts, 0.0);
        plan.matmul(&router.weight, &mut work.input, &mut work.routes);
        plan.add_bias(router, &mut work.routes);
        let (mut chosen, mut weights) = (vec![0; rows * k], vec![0.0; rows * k]);
        let each = chosen.chunks_exact_mut(k).zip(weights.chunks_exact_mut(k));
        for (logits, (chosen, weights)) in work.routes.chunks_exact(experts).zip(each) {
            route(logits, *routing, chosen, weights);
        }
        let groups = group(&chosen, experts);
        let mut bytes = 0;
        let mut product = |stack: &Stack, x: &[f32], out: &mut Vec<f32>| {
            let width = stack.matrices[0].rows;
            room(out, chosen.len() * width);
            bytes += indexed_matmul(&stack.matrices, &groups, x, plan, &mut work.gathered, out);
            if let Some(bias) = &stack.bias {
                plan.team.parallel_rows(out, width, ROWS, |a, out| {
                    let bias = &bias[chosen[a] * width..];
                    out.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
                });
            }
        };
        product(gate, &work.input.values, &mut work.gate);
        product(up, &work.input.values, &mut work.up);
        room(&mut work.gated, work.gate.len());
        let (size, e) = (gate.matrices[0].rows, self.config.base.hidden_size);
        plan.team.parallel_rows(&mut work.gated, size, ROWS, |a, out| {
            let (gate, up) = (&work.gate[a * size..][..size], &work.up[a * size..][..size]);
            match clamp {
                Some(clamp) => clamped_gate(*clamp, gate, up, out),
                None => silu_gate(gate, up, out),
            }
        });
        product(down, &work.gated, &mut work.down);
        plan.team.parallel_rows(&mut work.delta, e, ROWS, |t, out| {
            combine(&work.down[t * k * e..][..k * e], &weights[t * k..][..k], out);
        });
        work.seen.expert_bytes += bytes;
        work.seen.chosen.push(chosen);
        work.seen.weights.push(weights);
    }

    fn normed(&self, x: &[f32], norm: &[f32], plan: &Plan, input: &mut Input) {
        let e = self.config.base.hidden_size;
        input.resize(x.len() / e, e);
        plan.team.parallel_rows(&mut input.values, e, ROWS, |t, out| {
            rms_norm(&x[t * e..][..e], norm, self.config.base.rms_norm_eps, out);
        });
    }
}

/// Computes gpt-oss's gate: `g · sigmoid(alpha · g) · (u + 1)`, with `g` and `u` clamped. The code
/// uses `f32::clamp` because, unlike `f32::min`, it preserves a NaN.
fn clamped_gate(clamp: Clamp, gate: &[f32], up: &[f32], out: &mut [f32]) {
    let Clamp { alpha, limit } = clamp;
    for (out, (gate, up)) in out.iter_mut().zip(gate.iter().zip(up)) {
        let (gate, up) = (gate.clamp(f32::NEG_INFINITY, limit), up.clamp(-limit, limit));
        *out = gate / (1.0 + (-alpha * gate).exp()) * (up + 1.0);
    }
}

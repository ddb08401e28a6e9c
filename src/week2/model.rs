//! Day 1. The model over rows: one forward pass for a prompt, a part of one, one new token, or
//! several requests at once.

use std::{fmt, str::FromStr};

use anyhow::{bail, ensure};
use tiny_llm_formats::config::ModelConfig;

use super::{
    attention::attend,
    cache::DenseCache,
    input::{BLOCK, Input},
    kernels::{
        Choice, matmul,
        naive::decode_row,
        quantize,
        vector::{rms_norm, rms_norm_in_place, silu_gate},
    },
    matrix::Matrix,
    parallel::Team,
    rope::{RopeLayout, RopeTable},
    rows::Row,
};

/// A linear layer: `x · weightᵀ + bias`.
#[derive(Debug, Clone)]
pub struct Linear {
    /// `[out, in]`
    pub weight: Matrix,
    /// `[out]`
    pub bias: Option<Vec<f32>>,
}

/// The weights of one layer.
#[derive(Debug, Clone)]
pub struct Layer {
    /// `[E]`, before attention.
    pub attention_norm: Vec<f32>,
    /// `[H_q·D, E]`
    pub q_proj: Linear,
    /// `[H·D, E]`
    pub k_proj: Linear,
    /// `[H·D, E]`
    pub v_proj: Linear,
    /// `[E, H_q·D]`
    pub o_proj: Linear,
    /// `[D]`, each query head's norm (Qwen3).
    pub q_norm: Option<Vec<f32>>,
    /// `[D]`, each key head's norm (Qwen3).
    pub k_norm: Option<Vec<f32>>,
    /// `[E]`, before the MLP.
    pub mlp_norm: Vec<f32>,
    /// `[I, E]`
    pub gate_proj: Matrix,
    /// `[I, E]`
    pub up_proj: Matrix,
    /// `[E, I]`
    pub down_proj: Matrix,
}

/// A decoder whose weights lie in a mapped file.
#[derive(Debug, Clone)]
pub struct Model {
    /// Sizes and constants.
    pub config: ModelConfig,
    /// `[V, E]`
    pub embedding: Matrix,
    /// First to last.
    pub layers: Vec<Layer>,
    /// `[E]`
    pub norm: Vec<f32>,
    /// `[V, E]`; `None` if it is the embedding.
    pub lm_head: Option<Matrix>,
    /// Angles for every position of the context.
    pub rope: RopeTable,
    /// Which numbers turn together.
    pub rope_layout: RopeLayout,
}

/// How a forward pass is computed: each choice can be switched off, to see what it is worth.
pub struct Plan {
    /// Which kernels multiply.
    pub kernels: Choice,
    /// How queries meet keys and values.
    pub attention: AttentionKind,
    /// Who does it.
    pub team: Team,
}

/// The two ways to compute attention over a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AttentionKind {
    /// All scores, then their softmax, then the sum (day 1).
    TwoPass,
    /// One pass over the cache with a running maximum (day 7).
    #[default]
    Streaming,
}

impl fmt::Display for AttentionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TwoPass => "two-pass",
            Self::Streaming => "streaming",
        })
    }
}

impl FromStr for AttentionKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "two-pass" => Ok(Self::TwoPass),
            "streaming" => Ok(Self::Streaming),
            _ => Err(format!("found attention {name:?}, expected two-pass or streaming")),
        }
    }
}

/// Every buffer of a forward pass, kept from one to the next so that a decoded token allocates
/// nothing.
#[derive(Debug, Default)]
pub struct Workspace {
    /// `[T, E]`, the residual stream.
    x: Vec<f32>,
    /// The input of the matrices that come next.
    input: Input,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    /// `[T, E]`, what a sub-layer adds to the residual stream.
    delta: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    logits: Vec<f32>,
}

impl Workspace {
    /// What the last forward pass returned.
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }
}

impl Model {
    /// Bytes of weights that a forward pass of one row reads: every matrix once, of the embedding
    /// one row, unless it is the head too.
    #[must_use]
    pub fn weight_bytes(&self) -> u64 {
        self.matrices().map(|matrix| matrix.bytes().len() as u64).sum()
    }

    /// Every matrix that a forward pass multiplies with.
    pub fn matrices(&self) -> impl Iterator<Item = &Matrix> {
        let layers = self.layers.iter().flat_map(|layer| {
            let projections = [&layer.q_proj, &layer.k_proj, &layer.v_proj, &layer.o_proj]
                .map(|linear| &linear.weight);
            projections.into_iter().chain([&layer.gate_proj, &layer.up_proj, &layer.down_proj])
        });
        layers.chain([self.lm_head.as_ref().unwrap_or(&self.embedding)])
    }

    /// Whether [`Model::forward`] can run on these rows.
    ///
    /// # Errors
    /// If there are none, or a row's token, position or sequence is out of range or out of order.
    pub fn check(&self, rows: &[Row], cache: &DenseCache) -> anyhow::Result<()> {
        ensure!(!rows.is_empty(), "there are no tokens to start from");
        let capacity = cache.shape().capacity.min(self.config.max_positions);
        for (i, row) in rows.iter().enumerate() {
            let vocabulary = self.config.vocab_size;
            if row.token as usize >= vocabulary {
                bail!(
                    "token {} at position {} is not in the vocabulary: ids run from 0 to {}",
                    row.token,
                    row.position,
                    vocabulary - 1
                );
            }
            ensure!(
                row.position < capacity,
                "position {} does not fit into the context of {capacity}",
                row.position
            );
            ensure!(
                row.sequence < cache.shape().sequences,
                "sequence {} is not in the cache of {}",
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

    /// Runs the rows and stores their keys and values. Returns logits `[n, V]` of the `n` rows that
    /// want them, in their order.
    ///
    /// Rows of one sequence stand in the order of their positions, without a gap, from the first
    /// that is not in the cache.
    ///
    /// # Panics
    /// If a row's position is not the next of its sequence, or its token or sequence is out of
    /// range: [`Model::check`] tells beforehand.
    pub fn forward<'w>(
        &self,
        rows: &[Row],
        cache: &mut DenseCache,
        plan: &Plan,
        work: &'w mut Workspace,
    ) -> &'w [f32] {
        todo!("week2-day1 task 3: Model::forward")
    }

    /// The attention of layer `index`: norm, projections, head norms, RoPE, the cache, attention,
    /// output projection. `work.x [T, E]` → `work.delta [T, E]`. Stores the rows' keys and values;
    /// a row then sees its own sequence up to and including its own position.
    fn attention(
        &self,
        index: usize,
        rows: &[Row],
        cache: &mut DenseCache,
        plan: &Plan,
        work: &mut Workspace,
    ) {
        todo!("week2-day1 task 3: Model::attention")
    }

    /// Week 1's MLP of a layer, behind its norm: `work.x [T, E]` → `work.delta [T, E]`.
    fn mlp(&self, layer: &Layer, n: usize, plan: &Plan, work: &mut Workspace) {
        let size = self.config.intermediate_size;
        self.normalised(&layer.mlp_norm, n, width(&[&layer.gate_proj, &layer.up_proj]), plan, work);
        work.gate.resize(n * size, 0.0);
        work.up.resize(n * size, 0.0);
        plan.product(&layer.gate_proj, &work.input, &mut work.gate);
        plan.product(&layer.up_proj, &work.input, &mut work.up);
        work.input.resize(n, size);
        let (gate, up) = (&work.gate, &work.up);
        plan.team.parallel_rows(&mut work.input.values, size, ROWS, |t, out| {
            let at = t * size..(t + 1) * size;
            silu_gate(&gate[at.clone()], &up[at], out);
        });
        plan.matmul(&layer.down_proj, &mut work.input, &mut work.delta);
    }

    /// Norms `work.x [T, E]` into `work.input`, which is then ready for [`Plan::product`] with
    /// matrices that want this [`width`].
    fn normalised(&self, norm: &[f32], n: usize, width: usize, plan: &Plan, work: &mut Workspace) {
        let e = self.config.hidden_size;
        work.input.resize(n, e);
        let x = &work.x;
        plan.team.parallel_rows(&mut work.input.values, e, ROWS, |t, out| {
            rms_norm(&x[t * e..][..e], norm, self.config.rms_norm_eps, out);
        });
        plan.prepare(&mut work.input, width);
    }
}

impl Plan {
    /// Brings the input into the form that the kernels want, with scales for each `width`
    /// activations. `normalised` and `matmul` do so.
    fn prepare(&self, input: &mut Input, width: usize) {
        input.width = width;
        if let Some(rung) = self.kernels.quantizer() {
            quantize(rung, &self.team, input, width);
        }
    }

    /// `out = input · weightᵀ`, for an input that is prepared. [`Model::normalised`] prepares what
    /// it writes; whoever writes into the input otherwise takes [`Plan::matmul`] in place of this.
    ///
    /// # Panics
    /// If the input was resized and not prepared since: integer kernels would multiply with the
    /// integers of an older one.
    fn product(&self, weight: &Matrix, input: &Input, out: &mut [f32]) {
        assert!(
            input.width > 0,
            "`product` of an input that is not prepared: `normalised` prepares what it writes, `matmul` all else"
        );
        matmul(self.kernels.rung(weight.tensor_type), &self.team, weight, input, out);
    }

    fn add_bias(&self, linear: &Linear, out: &mut [f32]) {
        if let Some(bias) = &linear.bias {
            self.team.parallel_rows(out, bias.len(), ROWS, |_, out| {
                out.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
            });
        }
    }

    /// Prepares the input and multiplies.
    fn matmul(&self, weight: &Matrix, input: &mut Input, out: &mut [f32]) {
        self.prepare(input, width(&[weight]));
        self.product(weight, input, out);
    }
}

/// How many activations may share a scale in the input of all these matrices: as many as weights in
/// the longest of their blocks.
fn width(weights: &[&Matrix]) -> usize {
    weights.iter().map(|weight| weight.tensor_type.block_len()).fold(BLOCK, usize::max)
}

/// Rows that a thread takes at a time where a row is little work.
const ROWS: usize = 8;

/// `x += delta`, both `[T, E]`.
fn add_rows(x: &mut [f32], delta: &[f32], e: usize, plan: &Plan) {
    plan.team.parallel_rows(x, e, ROWS, |t, x| {
        x.iter_mut().zip(&delta[t * e..]).for_each(|(x, d)| *x += d);
    });
}

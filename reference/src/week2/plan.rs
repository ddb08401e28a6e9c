//! How a forward pass is computed: which kernels, which attention, how many threads. And what a layer
//! asks of them: products, biases, sums.

use std::{fmt, str::FromStr};

use super::{
    input::{BLOCK, Input},
    kernels::{Rung, matmul, quantize},
    layer::Linear,
    matrix::Matrix,
    parallel::Team,
};

/// How a forward pass is computed: each choice can be switched off, to see what it is worth.
pub struct Plan {
    /// Which kernels multiply.
    pub rung: Rung,
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

impl Plan {
    /// Brings the input into the form that the kernels want, with scales for each `width`
    /// activations. `normalised` and `matmul` do so.
    pub(super) fn prepare(&self, input: &mut Input, width: usize) {
        input.width = width;
        if self.rung.wants_int8() {
            quantize(self.rung, &self.team, input, width);
        }
    }

    /// `out = input · weightᵀ`, for an input that is prepared. `Model::normalised` prepares what
    /// it writes; whoever writes into the input otherwise takes [`Plan::matmul`] in place of this.
    ///
    /// # Panics
    /// If the input was resized and not prepared since: integer kernels would multiply with the
    /// integers of an older one.
    pub(super) fn product(&self, weight: &Matrix, input: &Input, out: &mut [f32]) {
        assert!(
            input.width > 0,
            "`product` of an input that is not prepared: `normalised` prepares what it writes, `matmul` all else"
        );
        matmul(self.rung, &self.team, weight, input, out);
    }

    /// Adds the layer's bias to each row of `out`, if it has one.
    pub(super) fn add_bias(&self, linear: &Linear, out: &mut [f32]) {
        if let Some(bias) = &linear.bias {
            self.team.parallel_rows(out, bias.len(), ROWS, |_, out| {
                out.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
            });
        }
    }

    /// Prepares the input and multiplies.
    pub(super) fn matmul(&self, weight: &Matrix, input: &mut Input, out: &mut [f32]) {
        self.prepare(input, width(&[weight]));
        self.product(weight, input, out);
    }
}

/// How many activations may share a scale in the input of all these matrices: as many as weights in
/// the longest of their blocks.
pub(super) fn width(weights: &[&Matrix]) -> usize {
    weights.iter().map(|weight| weight.tensor_type.block_len()).fold(BLOCK, usize::max)
}

/// Rows that a thread takes at a time where a row is little work.
pub(super) const ROWS: usize = 8;

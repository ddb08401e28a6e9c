//! How a forward pass is computed: its kernels, attention and threads. Layers use a [`Plan`] to
//! compute products and to add biases.

use std::{fmt, str::FromStr};

use crate::week2::{
    input::{BLOCK, Input, Prepared},
    kernels::{Choice, matmuls, quantize},
    layer::Linear,
    matrix::Matrix,
    parallel::Team,
};

/// The kernels, attention and threads that compute a forward pass. Each optimisation can be
/// switched off, to measure its effect.
pub struct Plan {
    /// The kernels that compute matrix products.
    pub kernels: Choice,
    /// How attention is computed.
    pub attention: AttentionKind,
    /// The threads that compute the pass.
    pub team: Team,
}

/// The two ways to compute attention over a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AttentionKind {
    /// Computes all scores, then their softmax, then the weighted sum (day 1).
    TwoPass,
    /// Reads the cache once, with a running maximum (day 7).
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
    /// Prepares `input` for products with the matrices `weights`. Quantizes it if the kernels need
    /// int8. Pass the result to [`Plan::product`]. If `input` is overwritten, prepare it again.
    pub(crate) fn prepare<'a>(&self, input: &'a mut Input, weights: &[&Matrix]) -> Prepared<'a> {
        // A scale must cover a whole block of every matrix. So use the length of the longest block.
        let blocks = weights.iter().map(|weight| weight.tensor_type.block_len());
        self.prepare_for(input, blocks.fold(BLOCK, usize::max))
    }

    /// Prepares `input` for products with any matrices whose blocks have at most `block` elements.
    /// Quantizes it if the kernels need int8. Pass the result to [`Plan::product`].
    pub fn prepare_for<'a>(&self, input: &'a mut Input, block: usize) -> Prepared<'a> {
        let Some(rung) = self.kernels.quantizer() else {
            return input.without_int8();
        };
        quantize(rung, &self.team, input, block.max(BLOCK))
    }

    /// Computes `out = input · weightᵀ`. An input that was prepared for several matrices can be
    /// multiplied by each of them.
    pub fn product(&self, weight: &Matrix, input: Prepared<'_>, out: &mut [f32]) {
        self.products(input, [(weight, out)]);
    }

    /// Computes `out = input · weightᵀ` for each pair `(weight, out)`, all in one job of the team.
    pub fn products<const N: usize>(
        &self,
        input: Prepared<'_>,
        products: [(&Matrix, &mut [f32]); N],
    ) {
        matmuls(&self.kernels, &self.team, input, products);
    }

    /// Prepares `input` for one matrix and computes `out = input · weightᵀ`.
    pub(crate) fn matmul(&self, weight: &Matrix, input: &mut Input, out: &mut [f32]) {
        let input = self.prepare(input, &[weight]);
        self.product(weight, input, out);
    }

    /// Adds the linear layer's bias, if any, to each row of `out`.
    pub(crate) fn add_bias(&self, linear: &Linear, out: &mut [f32]) {
        if let Some(bias) = &linear.bias {
            self.team.parallel_rows(out, bias.len(), ROWS, |_, out| {
                out.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
            });
        }
    }
}

/// Number of rows in a thread's unit of work, for operations that do little work per row.
pub(crate) const ROWS: usize = 8;

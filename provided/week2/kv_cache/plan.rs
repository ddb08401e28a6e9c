//! How a forward pass is computed: which kernels, which attention, how many threads. And
//! what a layer asks of them: products, biases, sums.

use std::{fmt, str::FromStr};

use crate::week2::{
    input::{BLOCK, Input, Prepared},
    kernels::{Choice, matmuls, quantize},
    layer::Linear,
    matrix::Matrix,
    parallel::Team,
};

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

impl Plan {
    /// Brings the input into the form that the kernels want for these matrices. What it returns is
    /// for [`Plan::product`]; an input that is written again must be prepared again.
    pub(crate) fn prepare<'a>(&self, input: &'a mut Input, weights: &[&Matrix]) -> Prepared<'a> {
        // As many activations may share a scale as there are weights in the longest block.
        let blocks = weights.iter().map(|weight| weight.tensor_type.block_len());
        self.prepare_for(input, blocks.fold(BLOCK, usize::max))
    }

    /// The same for weights whose longest block has `block` elements.
    pub fn prepare_for<'a>(&self, input: &'a mut Input, block: usize) -> Prepared<'a> {
        let Some(rung) = self.kernels.quantizer() else {
            return input.without_int8();
        };
        quantize(rung, &self.team, input, block.max(BLOCK))
    }

    /// `out = input · weightᵀ`. Several matrices can share an input that is prepared for them.
    pub fn product(&self, weight: &Matrix, input: Prepared<'_>, out: &mut [f32]) {
        self.products(input, [(weight, out)]);
    }

    /// `out = input · weightᵀ` for several matrices, in one job of the team.
    pub fn products<const N: usize>(
        &self,
        input: Prepared<'_>,
        products: [(&Matrix, &mut [f32]); N],
    ) {
        matmuls(&self.kernels, &self.team, input, products);
    }

    /// The same for an input of one matrix alone: prepares it and multiplies.
    pub(crate) fn matmul(&self, weight: &Matrix, input: &mut Input, out: &mut [f32]) {
        let input = self.prepare(input, &[weight]);
        self.product(weight, input, out);
    }

    /// Adds the layer's bias to each row of `out`, if it has one.
    pub(crate) fn add_bias(&self, linear: &Linear, out: &mut [f32]) {
        if let Some(bias) = &linear.bias {
            self.team.parallel_rows(out, bias.len(), ROWS, |_, out| {
                out.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
            });
        }
    }
}

/// Rows that a thread takes at a time where a row is little work.
pub(crate) const ROWS: usize = 8;

//! Day 2. What a node can compute.

use crate::week2::matrix::Matrix;

/// An operation with its parameters.
#[derive(Debug, Clone)]
pub enum Op {
    /// Leaf: a matrix of the model.
    Weight(Matrix),
    /// Leaf: numbers.
    Values(Vec<f32>),
    /// Leaf: the token of each row.
    Tokens,
    /// View: other sizes.
    Reshape,
    /// View: axes in another order.
    Permute,
    /// A copy without gaps.
    Contiguous,
    /// `[E, V]`, tokens `[T]` → `[E, T]`.
    Embed,
    /// Rows times rows.
    MulMat,
    /// The second broadcasts to the first.
    Add,
    /// Each row over its root mean square, times a weight: `x`, weight `[ne0]`.
    RmsNorm {
        /// Added to the mean square.
        eps: f32,
    },
    /// Each head `[D, H, T]` turned to the position of its row.
    Rope,
    /// `silu(gate) · up`
    SiluGate,
    /// Keys and values of all rows go into the cache. What comes out says that they are there.
    Store {
        /// Of the cache.
        layer: usize,
    },
    /// Queries `[D, H_q, T]` over the cache, once keys and values are stored → `[H_q·D, T]`.
    Attend {
        /// Of the cache.
        layer: usize,
    },
    /// The rows whose logits are wanted.
    Wanted,
    /// The same numbers in another backend's memory.
    Copy,
}

impl Op {
    /// What a backend may be asked to compute, as it is drawn.
    pub const NAMES: [&str; 10] = [
        "contiguous",
        "embed",
        "mul_mat",
        "add",
        "rms_norm",
        "rope",
        "silu_gate",
        "store",
        "attend",
        "wanted",
    ];

    /// As it is drawn.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Weight(_) => "weight",
            Self::Values(_) => "values",
            Self::Tokens => "tokens",
            Self::Reshape => "reshape",
            Self::Permute => "permute",
            Self::Contiguous => "contiguous",
            Self::Embed => "embed",
            Self::MulMat => "mul_mat",
            Self::Add => "add",
            Self::RmsNorm { .. } => "rms_norm",
            Self::Rope => "rope",
            Self::SiluGate => "silu_gate",
            Self::Store { .. } => "store",
            Self::Attend { .. } => "attend",
            Self::Wanted => "wanted",
            Self::Copy => "copy",
        }
    }

    /// Whether nothing has to be computed because the values are there: a leaf.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        matches!(self, Self::Weight(_) | Self::Values(_) | Self::Tokens)
    }

    /// Whether nothing has to be computed because the bytes are the source's.
    #[must_use]
    pub fn is_view(&self) -> bool {
        matches!(self, Self::Reshape | Self::Permute)
    }
}

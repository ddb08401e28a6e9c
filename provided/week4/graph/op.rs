//! Day 2. The operations that nodes compute.

use crate::week2::matrix::Matrix;

/// An operation with its parameters.
#[derive(Debug, Clone)]
pub enum Op {
    /// Leaf: a matrix of the model.
    Weight(Matrix),
    /// Leaf: f32 values that are part of the graph, such as the weight of a norm.
    Values(Vec<f32>),
    /// Leaf: the token of each row.
    Tokens,
    /// View of the source with other sizes.
    Reshape,
    /// View of the source with its axes in another order.
    Permute,
    /// Contiguous copy of the source.
    Contiguous,
    /// Embedding: table `[E, V]`, tokens `[T]` → `[E, T]`.
    Embed,
    /// Product: each row of the first source times each row of the second.
    MulMat,
    /// Sum. The second source broadcasts to the first.
    Add,
    /// RMSNorm of each row of the first source. The second source is the weight, `[ne0]`.
    RmsNorm {
        /// Constant added to the mean square.
        eps: f32,
    },
    /// RoPE: rotates heads `[D, H, T]`, each by the position of its row.
    Rope,
    /// `silu(gate) · up`
    SiluGate,
    /// Stores keys and values of all rows in the cache. An `Attend` that reads the layer has this
    /// node as a source, so the `Attend` runs later.
    Store {
        /// Layer of the cache.
        layer: usize,
    },
    /// Attention over the cache: queries `[D, H_q, T]` → `[H_q·D, T]`. The second source is a
    /// `Store`.
    Attend {
        /// Layer of the cache.
        layer: usize,
    },
    /// Selects the rows whose logits are needed.
    Wanted,
    /// Copies the source's values to another backend's memory.
    Copy,
}

impl Op {
    /// The operations that a backend may have to compute, by their [`Op::name`].
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

    /// Returns the operation's name in pictures and errors.
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

    /// Returns whether the node is a leaf, whose values exist before the pass.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        matches!(self, Self::Weight(_) | Self::Values(_) | Self::Tokens)
    }

    /// Returns whether the node is a view, which uses the bytes of its source.
    #[must_use]
    pub fn is_view(&self) -> bool {
        matches!(self, Self::Reshape | Self::Permute)
    }
}

//! Day 2. RoPE: position as a rotation of each query and key.
//!
//! A head of size `D` consists of `D/2` pairs of elements. Pair `i` at position `p` is rotated by
//! the angle `p · θᵢ`, with `θᵢ = base^(−2i/D)`. Checkpoints disagree about *which* two elements
//! form a pair: neighbours ([`rope_interleaved`], GGUF Llama files) or elements half a head apart
//! ([`rope_half_split`], Hugging Face folders).
//!
//! Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding".
//!
//! Tasks here: week1-day2 task 1 (`inverse_frequencies`, `RopeTables::new`), week1-day2 task 2
//! (`rope_interleaved`), week1-day2 task 3 (`rope_half_split`), week1-day2 task 4
//! (`rope_at_positions`, `half_split_to_interleaved`). Everything else is provided.

use ndarray::Array2;
use tiny_llm_formats::{
    Tensor,
    tensor::{reshape, swap_axes, tensor},
};

/// Returns `θᵢ = base^(−2i/D)` for `i` in `0..D/2`, with `D = head_dim`. The unit is radians per
/// position.
///
/// # Panics
/// If `head_dim` is odd.
pub fn inverse_frequencies(head_dim: usize, base: f32) -> Vec<f32> {
    todo!("week1-day2 task 1: inverse_frequencies")
}

/// The cosine and sine of every angle that a model needs, for `P` positions. Row `p` belongs to
/// position `p`.
#[derive(Debug, Clone)]
pub struct RopeTables {
    /// Cosines, `[P, D/2]`.
    pub cos: Tensor,
    /// Sines, `[P, D/2]`.
    pub sin: Tensor,
}

impl RopeTables {
    /// Computes both tables for positions `0..n_positions`. Their entries `[p, i]` are the cosine
    /// and the sine of the angle `p · inverse_frequencies[i]`, which is computed in f32.
    pub fn new(inverse_frequencies: &[f32], n_positions: usize) -> Self {
        todo!("week1-day2 task 1: RopeTables::new")
    }
}

/// Rotates the pairs `(x[2i], x[2i+1])`. This is the traditional form of RoPE.
///
/// `x [..., L, D]` → the same shape. Row `l` is at position `p = offset + l`. Each pair `(a, b)`
/// becomes `(a·cos − b·sin, a·sin + b·cos)`. For pair `i`, `cos` and `sin` are the entries `[p, i]`
/// of `tables`.
///
/// # Panics
/// If `tables` ends before the last position.
pub fn rope_interleaved(x: &Tensor, tables: &RopeTables, offset: usize) -> Tensor {
    todo!("week1-day2 task 2: rope_interleaved")
}

/// Rotates the pairs `(x[i], x[i + D/2])`. Most Hugging Face checkpoints use this form of RoPE.
///
/// `x [..., L, D]` → the same shape. Row `l` is at position `p = offset + l`. Each pair `(a, b)`
/// becomes `(a·cos − b·sin, a·sin + b·cos)`. For pair `i`, `cos` and `sin` are the entries `[p, i]`
/// of `tables`.
///
/// # Panics
/// If `tables` ends before the last position.
pub fn rope_half_split(x: &Tensor, tables: &RopeTables, offset: usize) -> Tensor {
    todo!("week1-day2 task 3: rope_half_split")
}

/// Specifies which two elements of a head RoPE rotates as a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RopeForm {
    /// Neighbours: `(x[2i], x[2i+1])`.
    Interleaved,
    /// Half a head apart: `(x[i], x[i + D/2])`.
    HalfSplit,
}

/// Applies RoPE with a separate position for every row. A batch needs this if its sequences differ
/// in length.
///
/// `x [B, H, L, D]`, `positions [B, L]` → the same shape as `x`. Row `l` of sequence `b` is at
/// position `positions[b, l]`.
///
/// # Panics
/// If `tables` ends before the largest position, or the shape of `positions` is not `[B, L]`.
pub fn rope_at_positions(
    x: &Tensor,
    tables: &RopeTables,
    positions: &Array2<usize>,
    form: RopeForm,
) -> Tensor {
    todo!("week1-day2 task 4: rope_at_positions")
}

/// Converts a query or key projection from the half-split form to the interleaved form. Within each
/// head, row `i` moves to row `2i`, and row `i + D/2` moves to row `2i + 1`.
///
/// Convert both the query and the key projection. Attention with [`rope_interleaved`] then returns
/// the same result as attention with [`rope_half_split`] and the original projections.
///
/// `weight [n_heads·D, E]` → the same shape. `n_heads` is the number of heads of *this* projection.
/// A key projection may have fewer heads than the query projection. llama.cpp's converter reorders
/// Llama checkpoints in the same way.
pub fn half_split_to_interleaved(weight: &Tensor, n_heads: usize) -> Tensor {
    todo!("week1-day2 task 4: half_split_to_interleaved")
}

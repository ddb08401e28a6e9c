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
    // SOLUTION week1-day2 task 1
    assert!(
        head_dim.is_multiple_of(2),
        "RoPE turns pairs, so the head size must be even; it is {head_dim}"
    );
    // Compute the power in f64, because its error is later multiplied by the position. The cost is
    // negligible: this function runs once per model.
    (0..head_dim / 2)
        .map(|i| f64::from(base).powf(-2.0 * i as f64 / head_dim as f64) as f32)
        .collect()
    // END SOLUTION
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
        // SOLUTION week1-day2 task 1
        let angles = (0..n_positions)
            .flat_map(|p| inverse_frequencies.iter().map(move |theta| p as f32 * theta));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
        // END SOLUTION
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
    // SOLUTION week1-day2 task 2
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[2 * i], row[2 * i + 1]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = a * sin + b * cos;
        }
    }
    out
    // END SOLUTION
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
    // SOLUTION week1-day2 task 3
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[i], row[i + half]);
            row[i] = a * cos - b * sin;
            row[i + half] = a * sin + b * cos;
        }
    }
    out
    // END SOLUTION
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
    // SOLUTION week1-day2 task 4
    let [batch, heads, length, head_dim] = *x.shape() else {
        panic!("rope_at_positions needs [B, H, L, D], got {:?}", x.shape())
    };
    assert_eq!(positions.dim(), (batch, length), "positions must be [B, L]");
    let half = head_dim / 2;
    let mut out = x.clone();
    for ((b, l), &p) in positions.indexed_iter() {
        for h in 0..heads {
            for i in 0..half {
                let (first, second) = match form {
                    RopeForm::Interleaved => (2 * i, 2 * i + 1),
                    RopeForm::HalfSplit => (i, i + half),
                };
                let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
                let (a, c) = (x[[b, h, l, first]], x[[b, h, l, second]]);
                out[[b, h, l, first]] = a * cos - c * sin;
                out[[b, h, l, second]] = a * sin + c * cos;
            }
        }
    }
    out
    // END SOLUTION
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
    // SOLUTION week1-day2 task 4
    let [rows, width] = *weight.shape() else {
        panic!("a projection has two axes, got {:?}", weight.shape())
    };
    let head_dim = rows / n_heads;
    // (H·D, E) -> (H, 2, D/2, E) -> (H, D/2, 2, E) -> (H·D, E)
    let pairs = reshape(weight, &[n_heads, 2, head_dim / 2, width]);
    reshape(&swap_axes(&pairs, 1, 2), &[rows, width])
    // END SOLUTION
}

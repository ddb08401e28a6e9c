//! Day 7. The two halves of a layer: attention over an int8 cache, and an MLP in chunks.
//!
//! Tasks here: week4-day7 task 4 (`Cache::push`, `Cache::attend`, `mlp`). Everything else is
//! provided.

use super::{
    arena::Arena,
    error::Error,
    int8::{Activations, dot, quantize_int8},
    math::{exp, silu, sqrt},
    shape::{Component, Shape},
    storage::Storage,
    store::Store,
};

/// Maximum number of outputs in memory at once, for the MLP's up projection and for the output
/// head.
pub const OUTPUTS: usize = 128;

/// Keys and values of one layer as int8, with a scale for each head of each position.
#[derive(Debug)]
pub struct Cache<'a> {
    kv_heads: usize,
    head_dim: usize,
    /// The keys, `[positions, H, D]`. `values` has the same sizes.
    keys: &'a mut [i8],
    values: &'a mut [i8],
    /// The scale of each head of the keys, `[positions, H]`. `value_scales` has the same sizes.
    key_scales: &'a mut [f32],
    value_scales: &'a mut [f32],
    len: usize,
}

impl<'a> Cache<'a> {
    /// Provided. Creates a cache with room for `positions` positions.
    ///
    /// # Errors
    /// If the budget is too small.
    pub fn new(arena: &mut Arena<'a>, shape: &Shape, positions: usize) -> Result<Self, Error> {
        let (kv_heads, head_dim) = (shape.kv_heads, shape.head_dim);
        let heads = positions * kv_heads;
        Ok(Self {
            kv_heads,
            head_dim,
            keys: arena.take("cache: keys", heads * head_dim)?,
            values: arena.take("cache: values", heads * head_dim)?,
            key_scales: arena.take("cache: the keys' scales", heads)?,
            value_scales: arena.take("cache: the values' scales", heads)?,
            len: 0,
        })
    }

    /// Provided. Returns the number of positions that the cache holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Provided. Returns whether the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Provided. Returns the cache's capacity in positions.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.key_scales.len() / self.kv_heads
    }

    /// Provided. Keeps the first `len` positions and removes the others.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends one position's `keys [H, D]` and `values [H, D]`.
    ///
    /// # Errors
    /// If the cache is full. It is then unchanged.
    pub fn push(&mut self, keys: &[f32], values: &[f32]) -> Result<(), Error> {
        todo!("week4-day7 task 4: Cache::push")
    }

    /// Computes attention of `q [H_q, D]` over all positions, with the scale 1/√D, and writes it to
    /// `out [H_q, D]`. Each key/value head serves `H_q / H` neighbouring query heads. Each query
    /// head is quantized to int16 with its own scale. Each of its attention weights is multiplied
    /// by the scale of the value at the same position. The products are then quantized to int16
    /// too. All dot products and weighted sums are computed in integers (the weighted sums in i64).
    ///
    /// Needs `scratch` memory for each position of the cache's capacity, used or not: 4 bytes for a
    /// float weight and 2 for the integer weight. For each element of a head, needs 2 bytes for the
    /// query and 8 for the weighted sum. Padding for alignment comes on top. So if `scratch` is
    /// large enough for the first token, it is large enough for the last token too.
    ///
    /// # Errors
    /// If `scratch` is too small.
    pub fn attend(&self, q: &[f32], mut scratch: Arena<'_>, out: &mut [f32]) -> Result<(), Error> {
        todo!("week4-day7 task 4: Cache::attend")
    }
}

/// Computes the SwiGLU MLP of `x [E]` into `out [E]`. Reads the weights of *gate*, then of *up*,
/// then of *down*, each from front to back. At most [`OUTPUTS`] outputs of *up* are in memory at
/// once.
///
/// Needs 6 bytes of `scratch` memory for each of the `I` intermediate elements, 4 bytes for each of
/// [`OUTPUTS`] outputs, and padding for alignment.
///
/// # Errors
/// If a read fails, or `scratch` is too small.
pub fn mlp<S: Storage>(
    store: &mut Store<S>,
    x: Activations<'_>,
    chunk: &mut [u8],
    mut scratch: Arena<'_>,
    out: &mut [f32],
) -> Result<(), Error> {
    todo!("week4-day7 task 4: mlp")
}

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
        // SOLUTION week4-day7 task 4
        if self.len == self.positions() {
            return Err(Error::Context { positions: self.positions() });
        }
        let dim = self.head_dim;
        for head in 0..self.kv_heads {
            let at = self.len * self.kv_heads + head;
            let (from, to) = (head * dim..(head + 1) * dim, at * dim..(at + 1) * dim);
            self.key_scales[at] = quantize_int8(&keys[from.clone()], &mut self.keys[to.clone()]);
            self.value_scales[at] = quantize_int8(&values[from], &mut self.values[to]);
        }
        self.len += 1;
        Ok(())
        // END SOLUTION
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
        // SOLUTION week4-day7 task 4
        let (dim, heads) = (self.head_dim, self.kv_heads);
        let group = q.len() / dim / heads;
        let weights = scratch.take::<f32>("attention: weights", self.positions())?;
        let steps = scratch.take::<i16>("attention: weights in int16", self.positions())?;
        let (weights, steps) = (&mut weights[..self.len], &mut steps[..self.len]);
        let query = scratch.take::<i16>("attention: a query in int16", dim)?;
        let sums = scratch.take::<i64>("attention: sums", dim)?;
        for (i, (q, out)) in q.chunks_exact(dim).zip(out.chunks_exact_mut(dim)).enumerate() {
            let head = i / group;
            let q = Activations::of(q, query);
            let scale = q.scale / sqrt(dim as f32);
            let mut largest = f32::NEG_INFINITY;
            for (t, score) in weights.iter_mut().enumerate() {
                let at = t * heads + head;
                let key = &self.keys[at * dim..(at + 1) * dim];
                *score = dot(key, q.values) as f32 * (self.key_scales[at] * scale);
                largest = largest.max(*score);
            }
            let mut sum = 0.0;
            for (t, weight) in weights.iter_mut().enumerate() {
                *weight = exp(*weight - largest);
                sum += *weight;
                *weight *= self.value_scales[t * heads + head];
            }
            let weights = Activations::of(weights, steps);
            sums.fill(0);
            for (t, weight) in weights.values.iter().enumerate() {
                let at = t * heads + head;
                let value = &self.values[at * dim..(at + 1) * dim];
                for (sum, value) in sums.iter_mut().zip(value) {
                    *sum += i64::from(i32::from(*weight) * i32::from(*value));
                }
            }
            for (out, x) in out.iter_mut().zip(&*sums) {
                *out = *x as f32 * weights.scale / sum;
            }
        }
        Ok(())
        // END SOLUTION
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
    // SOLUTION week4-day7 task 4
    let (inner, _) = store.shape().size(Component::Gate);
    let gate = scratch.take::<f32>("MLP: gate", inner)?;
    let up = scratch.take::<f32>("MLP: some outputs", OUTPUTS)?;
    let steps = scratch.take::<i16>("MLP: gate in int16", inner)?;
    store.product(Component::Gate, 0..inner, x, chunk, gate)?;
    for (i, gate) in gate.chunks_mut(OUTPUTS).enumerate() {
        let (first, up) = (i * OUTPUTS, &mut up[..gate.len()]);
        store.product(Component::Up, first..first + up.len(), x, chunk, up)?;
        for (gate, up) in gate.iter_mut().zip(up) {
            *gate = silu(*gate) * *up;
        }
    }
    store.product(Component::Down, 0..out.len(), Activations::of(gate, steps), chunk, out)
    // END SOLUTION
}

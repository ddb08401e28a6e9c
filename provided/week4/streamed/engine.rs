//! Runs a model one component at a time, in the order of the file.

use crate::week4::streamed::{
    arena::Arena,
    error::Error,
    head::{TopK, best_tokens},
    int8::Activations,
    layer::{Cache, OUTPUTS, mlp},
    math::{exp, rms_norm, rotate},
    shape::Component,
    storage::{Counts, Storage},
    store::{Store, split_row},
};

/// Sizes that determine how much memory an [`Engine`] needs.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Number of positions that the cache holds.
    pub positions: usize,
    /// Size of the weight buffer, in rows of `E` weights. It always has room for the longest row.
    pub chunk_rows: usize,
    /// Number of best tokens that [`Engine::best`] returns.
    pub top_k: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { positions: 1024, chunk_rows: OUTPUTS, top_k: 40 }
    }
}

/// A model that reads its weights again for every token.
#[derive(Debug)]
pub struct Engine<'a, S> {
    store: Store<S>,
    /// Arena for the temporary buffers of the current component.
    arena: Arena<'a>,
    cache: Cache<'a>,
    top: TopK<'a>,
    /// Buffer for rows of weights.
    chunk: &'a mut [u8],
    /// The residual stream of one token, `[E]`.
    hidden: &'a mut [f32],
}

impl<'a, S: Storage> Engine<'a, S> {
    /// Creates an engine. Allocates from `arena` all memory that the engine needs permanently.
    ///
    /// # Errors
    /// If the budget is too small.
    pub fn new(store: Store<S>, mut arena: Arena<'a>, options: Options) -> Result<Self, Error> {
        let shape = store.shape();
        let positions = options.positions.min(shape.positions);
        let cache = Cache::new(&mut arena, shape, positions)?;
        let top = TopK::new(&mut arena, options.top_k)?;
        let hidden = arena.take("the residual stream", shape.hidden)?;
        // The longest row of any matrix, usually the down projection.
        let longest = Component::ALL.into_iter().filter(|part| part.is_matrix());
        let longest = longest.map(|part| shape.row_bytes(part)).max().unwrap_or_default();
        let rows = options.chunk_rows * shape.row_bytes(Component::Gate);
        let chunk = arena.take("weights, a chunk at a time", rows.max(longest))?;
        Ok(Self { store, arena, cache, top, chunk, hidden })
    }

    /// Returns the counters of reads so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.store.counts()
    }

    /// Returns the number of positions in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Returns whether no token has been fed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cache.is_empty()
    }

    /// Runs the model on one token, without the output head.
    ///
    /// # Errors
    /// If there is no such token, the cache is full, a read fails, or the budget is too small. The
    /// cache is then unchanged, so the same token can be fed again.
    pub fn feed(&mut self, token: u32) -> Result<(), Error> {
        let shape = *self.store.shape();
        let position = self.cache.len();
        if token as usize >= shape.tokens {
            return Err(Error::Token { token, tokens: shape.tokens });
        }
        if position == self.cache.positions() {
            return Err(Error::Context { positions: position });
        }
        let row = &mut self.chunk[..shape.row_bytes(Component::Embedding)];
        self.store.read(Component::Embedding, token as usize, row)?;
        let (scale, weights) = split_row(row);
        for (hidden, weight) in self.hidden.iter_mut().zip(weights) {
            *hidden = f32::from(*weight) * scale;
        }
        let fed = self.attention(position).and_then(|()| self.mlp());
        if fed.is_err() {
            self.cache.truncate(position);
        }
        fed
    }

    fn attention(&mut self, position: usize) -> Result<(), Error> {
        let shape = *self.store.shape();
        let (queries, keys) = (shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim);
        let mut scratch = self.arena.scope();
        let turn = scratch.take::<f32>("a position's angles", shape.head_dim)?;
        let normed = scratch.take::<f32>("a normed stream", shape.hidden)?;
        let steps = scratch.take::<i16>("a normed stream in int16", shape.hidden.max(queries))?;
        let q = scratch.take::<f32>("queries", queries)?;
        let k = scratch.take::<f32>("keys", keys)?;
        let v = scratch.take::<f32>("values", keys)?;
        self.store.floats(Component::Rope, position, turn)?;
        norm(&mut self.store, Component::AttentionNorm, self.hidden, &mut scratch, normed)?;
        let x = Activations::of(normed, &mut steps[..shape.hidden]);
        self.store.product(Component::Query, 0..queries, x, self.chunk, q)?;
        self.store.product(Component::Key, 0..keys, x, self.chunk, k)?;
        self.store.product(Component::Value, 0..keys, x, self.chunk, v)?;
        rotate(q, turn);
        rotate(k, turn);
        self.cache.push(k, v)?;
        let read = scratch.take::<f32>("the output of attention", queries)?;
        self.cache.attend(q, scratch.scope(), read)?;
        let x = Activations::of(read, &mut steps[..queries]);
        self.store.product(Component::Output, 0..shape.hidden, x, self.chunk, normed)?;
        add(self.hidden, normed);
        Ok(())
    }

    fn mlp(&mut self) -> Result<(), Error> {
        let hidden = self.hidden.len();
        let mut scratch = self.arena.scope();
        let normed = scratch.take::<f32>("a normed stream", hidden)?;
        let steps = scratch.take::<i16>("a normed stream in int16", hidden)?;
        norm(&mut self.store, Component::MlpNorm, self.hidden, &mut scratch, normed)?;
        let x = Activations::of(normed, steps);
        mlp(&mut self.store, x, self.chunk, scratch.scope(), normed)?;
        add(self.hidden, normed);
        Ok(())
    }

    /// Returns the `top_k` best next tokens with their logits, the largest logit first.
    ///
    /// # Errors
    /// If a read fails, the budget is too small, or all logits are NaN.
    pub fn best(&mut self) -> Result<impl Iterator<Item = (u32, f32)> + Clone + '_, Error> {
        let hidden = self.hidden.len();
        let mut scratch = self.arena.scope();
        let normed = scratch.take::<f32>("a normed stream", hidden)?;
        let steps = scratch.take::<i16>("a normed stream in int16", hidden)?;
        norm(&mut self.store, Component::FinalNorm, self.hidden, &mut scratch, normed)?;
        let x = Activations::of(normed, steps);
        self.top.clear();
        best_tokens(&mut self.store, x, self.chunk, scratch, &mut self.top)?;
        if self.top.best().next().is_none() {
            return Err(Error::NoToken);
        }
        Ok(self.top.best())
    }
}

/// Computes the RMSNorm of `x`. The norm's weights are the component `part`. They are in memory
/// only during this call.
fn norm<S: Storage>(
    store: &mut Store<S>,
    part: Component,
    x: &[f32],
    scratch: &mut Arena<'_>,
    out: &mut [f32],
) -> Result<(), Error> {
    let eps = store.shape().eps;
    let mut scratch = scratch.scope();
    let weight = scratch.take::<f32>("a norm's weights", x.len())?;
    store.floats(part, 0, weight)?;
    rms_norm(x, weight, eps, out);
    Ok(())
}

fn add(x: &mut [f32], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

/// Samples a token from `best`, which is sorted by logit, the largest first. `draw` is a random
/// number in 0..1. At temperature 0, returns the first token.
///
/// # Panics
/// If there are no tokens.
pub fn choose(best: impl Iterator<Item = (u32, f32)> + Clone, temperature: f32, draw: f32) -> u32 {
    let (first, largest) = best.clone().next().expect("a token");
    if temperature == 0.0 {
        return first;
    }
    let weight = |logit: f32| exp((logit - largest) / temperature);
    let sum: f32 = best.clone().map(|(_, logit)| weight(logit)).sum();
    let mut rest = draw * sum;
    for (token, logit) in best {
        rest -= weight(logit);
        if rest < 0.0 {
            return token;
        }
    }
    first
}

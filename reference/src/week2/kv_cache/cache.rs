//! Day 1. The KV cache. It holds the keys and values of every position so far, so that they are
//! computed only once.
//!
//! Tasks here: week2-day1 task 1 (`DenseCache::write`, `DenseCache::run`, `DenseCache::start`,
//! `Store::put`). Everything else is provided.

use std::ops::Range;

use half::f16;

pub use super::cache_type::CacheType;
use super::{
    kernels::vector::{narrow, prefetch, widen_f16},
    plan::Plan,
    q8_store::Q8Store,
    rows::Queries,
};

/// A cache of keys and values. The model writes them, and attention reads them.
///
/// The model and attention use a cache only through this trait. [`DenseCache`] reserves room for
/// every position. Another cache may allocate pages as a sequence grows. Every cache must follow
/// these rules:
///
/// - **Keys and values are returned as runs**: a run is a range of positions that are stored one
///   after the other in memory. A dense cache returns one run for a range, and a paged cache
///   returns a run for each page.
/// - **A run ends only at a multiple of [`TILE`](super::kernels::vector::TILE) or at the end of the
///   range.** (`TILE` is the number of positions in an attention tile.) So a page must hold a whole
///   number of tiles. Attention reads a run tile by tile (day 7), and its rounding depends on where
///   each tile begins and ends. The rule makes attention's result the same to the last bit, no
///   matter how the cache divides its memory.
/// - **Positions are given as ranges, not as lengths**: a model with a sliding window reads only
///   the most recent positions, and a cache may free the earlier ones.
pub trait KvCache: Sync {
    /// Returns the cache's sizes. `capacity` is the maximum number of positions of a sequence.
    fn shape(&self) -> CacheShape;

    /// Returns the length of `sequence` in positions. The cache holds the positions `0..length`.
    fn len(&self, sequence: usize) -> usize;

    /// Stores `keys [H, D]` and `values [H, D]` for one position in one layer. Overwrites the keys
    /// and values that were stored for this position before.
    ///
    /// # Panics
    /// If `position` is beyond the capacity. Also if `layer` or `sequence` is not in the cache.
    fn write(
        &mut self,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    );

    /// Returns the keys and values of one head at `positions`, in order. Everything that
    /// [`KvCache::write`] has stored can be read immediately, even before [`KvCache::advance`]
    /// counts the position.
    ///
    /// # Panics
    /// If a position is beyond the capacity. Also if `layer`, `sequence` or `head` is not in the
    /// cache.
    fn runs(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone;

    /// Records that `position` has been written in every layer. At the end of a pass, the model
    /// calls this method once for each token of the pass, in order.
    ///
    /// # Panics
    /// If `position` is not the next position of `sequence`.
    fn advance(&mut self, sequence: usize, position: usize);

    /// Keeps only the first `len` positions of `sequence`.
    fn truncate(&mut self, sequence: usize, len: usize);

    /// Returns whether the cache's type is [`CacheType::Q8_0`]. If so, the `f32`s in a run's
    /// [`Cells::F32`] are not numbers: they hold packed scales and codes, which
    /// [`q8_rows`](super::kernels::q8_rows) unpacks.
    fn holds_q8(&self) -> bool {
        false
    }

    /// Computes attention if the cache has its own implementation for this plan. Returns whether it
    /// computed attention. The default implementation does nothing and returns false. The function
    /// [`attend`](super::attention::attend) calls this method first. If the result is false, that
    /// function computes attention itself. A cache may add numbers in a different order than the
    /// function does.
    fn attend(&self, _plan: &Plan, _layer: usize, _queries: Queries<'_>, _out: &mut [f32]) -> bool {
        false
    }
}

/// Sizes of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheShape {
    /// Number of layers in the model. Each layer has its own part of the cache.
    pub layers: usize,
    /// Maximum number of sequences.
    pub sequences: usize,
    /// Number of key/value heads, `H`.
    pub kv_heads: usize,
    /// Maximum number of positions of each sequence, `S`.
    pub capacity: usize,
    /// Number of elements in a head, `D`.
    pub head_dim: usize,
}

/// Keys or values of consecutive positions, `[n, D]`, as they are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cells<'a> {
    /// Elements in f32, not rounded. In a q8_0 cache, these are not elements, but packed scales and
    /// codes (see [`KvCache::holds_q8`]).
    F32(&'a [f32]),
    /// Elements rounded to f16.
    F16(&'a [f16]),
}

/// Keys and values of consecutive positions of one head, as they are stored in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run<'a> {
    /// The run's first position.
    pub start: usize,
    /// Number of positions in the run.
    pub len: usize,
    /// Keys, `[len, D]`.
    pub keys: Cells<'a>,
    /// Values, `[len, D]`.
    pub values: Cells<'a>,
}

/// A cache that reserves room for every position of every sequence: `[layers, sequences, H, S, D]`,
/// once for keys and once for values. A head's positions are stored one after the other, because
/// attention reads them in that order. So any range of positions is one run.
#[derive(Debug, Clone)]
pub struct DenseCache {
    shape: CacheShape,
    keys: Numbers,
    values: Numbers,
    /// For each sequence, the number of positions that have been written in every layer.
    lengths: Vec<usize>,
    computed: usize,
}

/// The keys or the values of a cache, in rows of `D` elements. Indices count elements, even in a
/// q8_0 cache.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
    /// Plain floats.
    Plain(Store),
    /// Rows of q8_0.
    Q8(Q8Store),
}

/// The elements of a cache, one after the other.
#[derive(Debug, Clone)]
pub(crate) enum Store {
    /// Elements in f32, not rounded.
    F32(Vec<f32>),
    /// Elements rounded to f16.
    F16(Vec<f16>),
}

impl KvCache for DenseCache {
    fn shape(&self) -> CacheShape {
        self.shape
    }

    fn len(&self, sequence: usize) -> usize {
        self.lengths[sequence]
    }

    fn write(
        &mut self,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        // SOLUTION week2-day1 task 1
        let CacheShape { kv_heads, capacity, head_dim, .. } = self.shape;
        assert!(
            position < capacity,
            "position {position} is beyond the cache's {capacity} positions"
        );
        for head in 0..kv_heads {
            let at = self.start(layer, sequence, head) + position * head_dim;
            let row = head * head_dim..(head + 1) * head_dim;
            self.keys.put(at, &keys[row.clone()]);
            self.values.put(at, &values[row]);
        }
        // END SOLUTION
    }

    fn runs(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        let some = !positions.is_empty();
        some.then(|| self.run(layer, sequence, head, positions)).into_iter()
    }

    fn advance(&mut self, sequence: usize, position: usize) {
        let next = &mut self.lengths[sequence];
        assert!(
            position == *next,
            "sequence {sequence}: found position {position}, expected {next}"
        );
        *next += 1;
        self.computed += 1;
    }

    fn truncate(&mut self, sequence: usize, len: usize) {
        self.lengths[sequence] = self.lengths[sequence].min(len);
    }

    fn holds_q8(&self) -> bool {
        self.keys.holds_q8()
    }
}

impl DenseCache {
    /// Creates an empty cache. All its elements are 0. The operating system allocates its memory
    /// only as elements are written.
    #[must_use]
    pub fn new(shape: CacheShape, cache_type: CacheType) -> Self {
        let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = shape;
        let numbers = layers * sequences * kv_heads * capacity * head_dim;
        let store = || Numbers::new(numbers, head_dim, cache_type);
        Self { shape, keys: store(), values: store(), lengths: vec![0; sequences], computed: 0 }
    }

    /// Returns how many positions have been computed for this cache so far, in all sequences. A
    /// position that was removed and computed again counts twice.
    #[must_use]
    pub fn computed(&self) -> usize {
        self.computed
    }

    /// Returns the keys and values of one head at `positions`, as one run. A head's positions are
    /// stored one after the other.
    ///
    /// # Panics
    /// If a position is beyond the capacity. Also if `layer`, `sequence` or `head` is not in the
    /// cache.
    #[must_use]
    pub fn run(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> Run<'_> {
        // SOLUTION week2-day1 task 1
        let CacheShape { capacity, head_dim, .. } = self.shape;
        assert!(
            positions.end <= capacity,
            "positions {positions:?} are beyond the cache's {capacity} positions"
        );
        let at = self.start(layer, sequence, head) + positions.start * head_dim;
        let n = positions.len() * head_dim;
        let (keys, values) = (self.keys.get(at, n), self.values.get(at, n));
        Run { start: positions.start, len: positions.len(), keys, values }
        // END SOLUTION
    }

    /// Returns the index in [`Store`] of a head's first element, which belongs to position 0.
    fn start(&self, layer: usize, sequence: usize, head: usize) -> usize {
        // SOLUTION week2-day1 task 1
        let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.shape;
        assert!(
            layer < layers && sequence < sequences && head < kv_heads,
            "layer {layer}, sequence {sequence} or head {head} is not in the cache {:?}",
            self.shape
        );
        ((layer * sequences + sequence) * kv_heads + head) * capacity * head_dim
        // END SOLUTION
    }
}

impl Numbers {
    /// Creates `numbers` elements, all 0, in rows of `dim`. The operating system allocates their
    /// memory only as elements are written.
    pub(crate) fn new(numbers: usize, dim: usize, cache_type: CacheType) -> Self {
        match cache_type {
            CacheType::Q8_0 => Self::Q8(Q8Store::new(numbers, dim)),
            other => Self::Plain(Store::new(numbers, other)),
        }
    }

    /// Returns whether the elements are stored as rows of q8_0.
    pub(crate) fn holds_q8(&self) -> bool {
        matches!(self, Self::Q8(_))
    }

    /// Copies the `n` elements at index `from` to index `to`.
    pub(crate) fn copy(&mut self, from: usize, to: usize, n: usize) {
        match self {
            Self::Plain(store) => store.copy(from, to, n),
            Self::Q8(store) => store.copy(from, to, n),
        }
    }

    /// Converts `numbers` to the cache's type and writes them at index `at`. For q8_0, they must be
    /// whole rows.
    pub(crate) fn put(&mut self, at: usize, numbers: &[f32]) {
        match self {
            Self::Plain(store) => store.put(at, numbers),
            Self::Q8(store) => store.put(at, numbers),
        }
    }

    /// Prefetches the `n` elements at index `at`, which will be read next. `in_a_row` says whether
    /// these elements directly follow the elements that are being read now.
    pub(crate) fn prefetch(&self, at: usize, n: usize, in_a_row: bool) {
        match self {
            Self::Plain(store) => store.prefetch(at, n, in_a_row),
            Self::Q8(store) => store.prefetch(at, n, in_a_row),
        }
    }

    /// Returns the `n` elements at index `at`. For q8_0, returns packed scales and codes. Each
    /// `f32` then holds 32 bits of this data and must not be used as a number.
    pub(crate) fn get(&self, at: usize, n: usize) -> Cells<'_> {
        match self {
            Self::Plain(store) => store.get(at, n),
            Self::Q8(store) => Cells::F32(store.get(at, n)),
        }
    }
}

impl Store {
    /// Creates `numbers` elements, all 0. The operating system allocates their memory only as
    /// elements are written.
    pub(crate) fn new(numbers: usize, cache_type: CacheType) -> Self {
        match cache_type {
            CacheType::F32 => Self::F32(vec![0.0; numbers]),
            CacheType::F16 => Self::F16(bytemuck::allocation::zeroed_vec(numbers)),
            CacheType::Q8_0 => unreachable!("rows of q8_0 are in a Q8Store"),
        }
    }

    /// Copies the `n` elements at index `from` to index `to`.
    pub(crate) fn copy(&mut self, from: usize, to: usize, n: usize) {
        match self {
            Self::F32(store) => store.copy_within(from..from + n, to),
            Self::F16(store) => store.copy_within(from..from + n, to),
        }
    }

    /// Writes `numbers` at index `at`. An f16 store rounds each of them to the nearest f16.
    pub(crate) fn put(&mut self, at: usize, numbers: &[f32]) {
        // SOLUTION week2-day1 task 1
        match self {
            Self::F32(store) => store[at..at + numbers.len()].copy_from_slice(numbers),
            Self::F16(store) => narrow(numbers, &mut store[at..at + numbers.len()]),
        }
        // END SOLUTION
    }

    /// Prefetches the `n` elements at index `at`, which will be read next. `in_a_row` says whether
    /// these elements directly follow the elements that are being read now.
    pub(crate) fn prefetch(&self, at: usize, n: usize, in_a_row: bool) {
        match self {
            Self::F32(store) => prefetch(&store[at..at + n], in_a_row),
            Self::F16(store) => prefetch(&store[at..at + n], in_a_row),
        }
    }

    /// Returns the `n` elements at index `at`.
    pub(crate) fn get(&self, at: usize, n: usize) -> Cells<'_> {
        match self {
            Self::F32(store) => Cells::F32(&store[at..at + n]),
            Self::F16(store) => Cells::F16(&store[at..at + n]),
        }
    }
}

/// Converts rows `from..from + n` of `cells` to f32 and writes them to `out [n, D]`. If `cells` is
/// f16, also prefetches up to `n` of the rows that follow.
///
/// # Panics
/// If `cells` has fewer than `from + n` rows, or `out` is too short.
#[track_caller]
pub fn widen(cells: Cells<'_>, from: usize, n: usize, dim: usize, out: &mut [f32]) {
    let range = from * dim..(from + n) * dim;
    let stored = match cells {
        Cells::F32(x) => x.len(),
        Cells::F16(x) => x.len(),
    };
    assert!(
        range.end <= stored,
        "positions {from} to {} are beyond a run of {} positions",
        from + n,
        stored / dim.max(1)
    );
    match cells {
        Cells::F32(x) => out[..n * dim].copy_from_slice(&x[range]),
        Cells::F16(x) => {
            prefetch(&x[range.end..stored.min(range.end + range.len())], true);
            widen_f16(&x[range], &mut out[..n * dim]);
        }
    }
}

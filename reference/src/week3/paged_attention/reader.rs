//! Day 4. Reads each page once for the queries of several rows and sequences.
//!
//! Tasks here: week3-day4 task 1 (`read_run`), week3-day4 task 2 (`arrange`, `read_pages`).
//! Everything else is provided.

use std::ops::Range;

use crate::week2::{
    cache::{Cells, DenseCache, KvCache, Run, widen},
    kernels::vector::{TILE, tile_scores, tile_scores_transposed, tile_sum},
    q8_attention::widen_rows,
    rows::Row,
    streaming::{MAX_BLOCK_QUERIES, MAX_HEAD_DIM, OnlineSoftmax},
};

/// A cache whose positions are in named pages. Pages with the same name need to be read only once.
pub trait Pages: KvCache {
    /// Returns the number of positions per page, a multiple of [`TILE`].
    fn page_len(&self) -> usize;

    /// Returns the name of page `i` of a sequence. That page begins with position `i · page_len` of
    /// the sequence. Pages with the same name hold the same keys and values.
    ///
    /// # Panics
    /// If the sequence has no such page.
    fn page_name(&self, sequence: usize, i: usize) -> usize;
}

/// A dense cache shares nothing: each sequence has its own pages, with consecutive names.
impl Pages for DenseCache {
    fn page_len(&self) -> usize {
        4 * TILE
    }

    fn page_name(&self, sequence: usize, i: usize) -> usize {
        sequence * self.shape().capacity.div_ceil(self.page_len()) + i
    }
}

/// The queries of one row that read the same key and value head, and their attention so far.
#[derive(Debug, Default)]
pub struct Reader<'a> {
    /// The sequence whose keys the queries read.
    pub sequence: usize,
    /// The positions that the queries may see.
    pub visible: Range<usize>,
    /// `[G, D]`, the queries.
    pub q: &'a [f32],
    /// `[G]`, the online softmax of each query so far.
    pub softmax: &'a mut [OnlineSoftmax],
    /// `[G, D]`, each query's sum of values so far, with weights `e^(score − max)`. It is still to
    /// be divided by the softmax's total.
    pub sums: &'a mut [f32],
}

/// Buffers for a tile of keys or values, and for the scores of all queries that read the tile.
pub struct Desk {
    /// Whether keys are transposed before the scores are computed.
    transposes: bool,
    /// Whether runs hold rows of q8_0.
    holds_q8: bool,
    tile: [f32; TILE * MAX_HEAD_DIM],
    transposed: [f32; TILE * MAX_HEAD_DIM],
    scores: [f32; MAX_BLOCK_QUERIES * TILE],
    factors: [f32; MAX_BLOCK_QUERIES],
}

impl Default for Desk {
    fn default() -> Self {
        Self::for_queries(1)
    }
}

impl Desk {
    /// Minimum number of queries at which transposing a tile of keys pays off.
    const MANY: usize = 32;

    /// Creates buffers for `queries` queries that read the same tiles. Their number affects only
    /// the speed: the scores are the same, bit for bit.
    #[must_use]
    pub fn for_queries(queries: usize) -> Self {
        Self {
            transposes: queries >= Self::MANY,
            holds_q8: false,
            tile: [0.0; TILE * MAX_HEAD_DIM],
            transposed: [0.0; TILE * MAX_HEAD_DIM],
            scores: [0.0; MAX_BLOCK_QUERIES * TILE],
            factors: [0.0; MAX_BLOCK_QUERIES],
        }
    }

    /// Sets whether the runs hold rows of q8_0.
    #[must_use]
    pub fn with_q8(self, holds_q8: bool) -> Self {
        Self { holds_q8, ..self }
    }

    /// Converts rows `from..from + n` of `cells` to f32, and writes them to the tile. `cells` holds
    /// a run's keys or values.
    fn widen(&mut self, cells: Cells<'_>, from: usize, n: usize, dim: usize) {
        let widen = if self.holds_q8 { widen_rows } else { widen };
        widen(cells, from, n, dim, &mut self.tile[..n * dim]);
    }

    /// Converts keys `from..from + n` of `run` to f32, and makes them the current tile.
    pub fn put_keys(&mut self, run: Run<'_>, from: usize, n: usize, dim: usize) {
        self.widen(run.keys, from, n, dim);
        if self.transposes {
            for (j, key) in self.tile[..n * dim].chunks_exact(dim).enumerate() {
                for (d, &x) in key.iter().enumerate() {
                    self.transposed[d * TILE + j] = x;
                }
            }
        }
    }

    /// Converts values `from..from + n` of `run` to f32, and makes them the current tile.
    pub fn put_values(&mut self, run: Run<'_>, from: usize, n: usize, dim: usize) {
        self.widen(run.values, from, n, dim);
    }

    /// Computes the scores of the queries `q [G, D]` for the `n` keys of the current tile. `at` is
    /// the index of the first query of `q` among all queries that read this tile.
    ///
    /// Returns two buffers for [`Desk::add`]: the scores `[G, TILE]` and the factors `[G]`. Only
    /// the first `n` scores of each row are valid. The caller must fill in the factors.
    pub fn score(
        &mut self,
        q: &[f32],
        n: usize,
        dim: usize,
        scale: f32,
        at: usize,
    ) -> (&mut [f32], &mut [f32]) {
        let heads = q.len() / dim;
        let scores = &mut self.scores[at * TILE..(at + heads) * TILE];
        if self.transposes {
            let keys = &self.transposed[..dim * TILE];
            let mut queries: [&[f32]; MAX_BLOCK_QUERIES] = [&[]; MAX_BLOCK_QUERIES];
            queries.iter_mut().zip(q.chunks_exact(dim)).for_each(|(query, q)| *query = q);
            tile_scores_transposed(&queries[..heads], keys, scale, scores);
        } else {
            tile_scores(q, &self.tile[..n * dim], dim, scale, scores);
        }
        (scores, &mut self.factors[at..at + heads])
    }

    /// Computes `sums[g] = factor[g] · sums[g] + Σⱼ weight[g, j] · value[j]` over the `n` values of
    /// the current tile. Among all queries that read this tile, the first query in `sums [G, D]`
    /// has index `at`. Before the call, replace the scores from [`Desk::score`] with the weights
    /// `e^(score − max)`, and fill in the factors.
    pub fn add(&self, n: usize, dim: usize, at: usize, sums: &mut [f32]) {
        let heads = sums.len() / dim;
        let weights = &self.scores[at * TILE..(at + heads) * TILE];
        tile_sum(weights, &self.factors[at..at + heads], &self.tile[..n * dim], dim, sums);
    }
}

/// Reads a run for all readers. Each reader reads the positions that it may see, and continues from
/// its current state. Converts each tile to f32 once for all readers. A score is `scale · q·k`.
pub fn read_run(
    readers: &mut [Reader<'_>],
    run: Run<'_>,
    head_dim: usize,
    scale: f32,
    desk: &mut Desk,
) {
    // SOLUTION week3-day4 task 1
    for from in (0..run.len).step_by(TILE) {
        let n = TILE.min(run.len - from);
        let place = |position: usize| position.saturating_sub(run.start + from).min(n);
        desk.put_keys(run, from, n, head_dim);
        let mut at = 0;
        for reader in &mut *readers {
            let (first, end) = (place(reader.visible.start), place(reader.visible.end));
            let (scores, factors) = desk.score(reader.q, n, head_dim, scale, at);
            let rows = scores.chunks_exact_mut(TILE).zip(factors).zip(&mut *reader.softmax);
            for ((scores, factor), softmax) in rows {
                scores[..first].fill(0.0);
                scores[end..].fill(0.0);
                *factor = softmax.absorb(&mut scores[first..end]);
            }
            at += reader.softmax.len();
        }
        desk.put_values(run, from, n, head_dim);
        let mut at = 0;
        for reader in &mut *readers {
            desk.add(n, head_dim, at, reader.sums);
            at += reader.softmax.len();
        }
    }
    // END SOLUTION
}

/// Replaces `order` with the indices of `rows`, sorted so that all rows that share a page are
/// neighbours. This must hold for every page. Rows with the same pages may be in any order.
/// Allocates nothing if `order` has enough capacity.
pub fn arrange(cache: &impl Pages, rows: &[Row], order: &mut Vec<usize>) {
    // SOLUTION week3-day4 task 2
    order.clear();
    order.extend(0..rows.len());
    let page_len = cache.page_len();
    let names = |row: &Row| {
        let sequence = row.sequence;
        (0..=row.position / page_len).map(move |i| cache.page_name(sequence, i))
    };
    order.sort_unstable_by(|&a, &b| {
        let (x, y) = (&rows[a], &rows[b]);
        let by_pages = if x.sequence == y.sequence {
            x.position.cmp(&y.position)
        } else {
            names(x).cmp(names(y))
        };
        by_pages.then(a.cmp(&b))
    });
    // END SOLUTION
}

/// Reads `positions` page by page. Each reader reads the positions that it may see. If neighbouring
/// readers share a page, reads the page once for all of them. Only the page's positions in
/// `positions` count. The read begins at the first one that any of these readers sees, rounded down
/// to a multiple of [`TILE`], even if that is before `positions`. It ends after the last one that
/// any of them sees.
pub fn read_pages(
    cache: &impl Pages,
    (layer, head): (usize, usize),
    positions: Range<usize>,
    readers: &mut [Reader<'_>],
    scale: f32,
    desk: &mut Desk,
) {
    // SOLUTION week3-day4 task 2
    let (page_len, head_dim) = (cache.page_len(), cache.shape().head_dim);
    for i in positions.start / page_len..positions.end.div_ceil(page_len) {
        let page = positions.start.max(i * page_len)..positions.end.min((i + 1) * page_len);
        let seen = |reader: &Reader| {
            reader.visible.start.max(page.start)..reader.visible.end.min(page.end)
        };
        let name = |reader: &Reader| {
            (!seen(reader).is_empty()).then(|| cache.page_name(reader.sequence, i))
        };
        for group in readers.chunk_by_mut(|a, b| name(a) == name(b)) {
            if name(&group[0]).is_none() {
                continue;
            }
            let start = group.iter().map(|reader| seen(reader).start).min().unwrap_or(0);
            let end = group.iter().map(|reader| seen(reader).end).max().unwrap_or(0);
            let sequence = group[0].sequence;
            for run in cache.runs(layer, sequence, head, start / TILE * TILE..end) {
                read_run(group, run, head_dim, scale, desk);
            }
        }
    }
    // END SOLUTION
}

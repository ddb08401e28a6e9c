//! A cache whose attention is computed page by page and in parts of fixed size.

use std::{
    array,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use crate::{
    week2::{
        attention::visible,
        cache::{CacheShape, KvCache, Run},
        kernels::vector::TILE,
        plan::{AttentionKind, Plan},
        rows::Queries,
        streaming::{MAX_BLOCK_QUERIES, MAX_HEAD_DIM, OnlineSoftmax},
    },
    week3::{
        parts::{PART, in_part, join},
        reader::{Desk, Pages, Reader, arrange, read_pages},
        room::EngineCache,
    },
};

/// A cache whose attention is computed page by page and in parts of fixed size. Its results are the
/// same, bit for bit, for paged and dense caches, for any batch, and for any number of threads.
#[derive(Debug)]
pub struct InParts<C> {
    cache: C,
    part_len: usize,
    room: Mutex<Room>,
}

/// Buffers of a pass, reused by the next pass.
#[derive(Debug, Default)]
struct Room {
    /// Indices of the pass's rows, sorted so that rows that share pages are neighbours.
    order: Vec<usize>,
    /// Blocks of rows that read pages together, as ranges of `order`.
    blocks: Vec<Range<usize>>,
    /// `[T]`, the index of each row's block, and the row's index within that block.
    places: Vec<(usize, usize)>,
    /// `[blocks, parts, H, (D + 2) · queries]`, the attention of each block over each part: sums,
    /// then maximums and totals.
    seen: Vec<f32>,
}

impl<C: Pages> InParts<C> {
    /// Wraps `cache`, with parts of [`PART`] positions.
    #[must_use]
    pub fn new(cache: C) -> Self {
        Self::with_part_len(cache, PART)
    }

    /// Wraps `cache`. Each part has `part_len` positions. The results' rounding depends on
    /// `part_len`.
    ///
    /// # Panics
    /// If `part_len` isn't a multiple of [`TILE`], or is 0.
    #[must_use]
    pub fn with_part_len(cache: C, part_len: usize) -> Self {
        assert!(
            part_len > 0 && part_len.is_multiple_of(TILE),
            "found parts of {part_len} positions, expected a multiple of {TILE}"
        );
        Self { cache, part_len, room: Mutex::default() }
    }

    /// Returns the wrapped cache.
    #[must_use]
    pub fn inner(&self) -> &C {
        &self.cache
    }

    /// Returns the wrapped cache, mutably.
    pub fn inner_mut(&mut self) -> &mut C {
        &mut self.cache
    }
}

/// Splits an item of [`Room::seen`], which holds the results of `queries` queries. Returns the
/// sums, then the maximums and totals.
fn halves(item: &mut [f32], queries: usize) -> (&mut [f32], &mut [f32]) {
    let states = item.len() - 2 * queries;
    item.split_at_mut(states)
}

impl Room {
    /// Groups rows into blocks that read pages together. A block has neighbouring rows whose
    /// sequences begin with the same page, and at most [`MAX_BLOCK_QUERIES`] queries.
    fn arrange(&mut self, cache: &impl Pages, queries: Queries<'_>) {
        let Queries { rows, group, .. } = queries;
        arrange(cache, rows, &mut self.order);
        let most = (MAX_BLOCK_QUERIES / group).max(1);
        self.blocks.clear();
        self.places.clear();
        self.places.resize(rows.len(), (0, 0));
        let first = |t: usize| cache.page_name(rows[t].sequence, 0);
        for (at, &t) in self.order.iter().enumerate() {
            match self.blocks.last_mut() {
                Some(block) if block.len() < most && first(self.order[block.start]) == first(t) => {
                    block.end = at + 1;
                }
                _ => self.blocks.push(at..at + 1),
            }
            let block = self.blocks.len() - 1;
            self.places[t] = (block, at - self.blocks[block].start);
        }
    }
}

/// Computes attention of all rows in one layer, like [`attend`](crate::week2::attention::attend).
/// First, computes every block's attention over every part. Then joins each row's parts in order.
fn attend_in_parts<C: Pages>(
    plan: &Plan,
    cache: &C,
    part_len: usize,
    layer: usize,
    queries: Queries<'_>,
    room: &mut Room,
    out: &mut [f32],
) {
    let Queries { rows, q, group, head_dim: d } = queries;
    assert!(
        group <= MAX_BLOCK_QUERIES && d <= MAX_HEAD_DIM,
        "found {group} heads of {d} values, expected at most {MAX_BLOCK_QUERIES} heads of at most \
         {MAX_HEAD_DIM} values"
    );
    let (width, scale) = (q.len() / rows.len(), 1.0 / (d as f32).sqrt());
    room.arrange(cache, queries);
    let Room { order, blocks, places, seen } = room;
    let longest = (0..rows.len()).map(|t| visible(rows, t).end).max().unwrap_or(0);
    let parts = longest.div_ceil(part_len);
    let most = blocks.iter().map(Range::len).max().unwrap_or(0) * group;
    let (item, heads) = (most * (d + 2), width / (group * d));
    seen.resize((blocks.len() * parts * heads * item).max(seen.len()), 0.0);
    let seen = &mut seen[..blocks.len() * parts * heads * item];
    plan.team.parallel_tiles(seen, heads * item, (1, item), |tile| {
        let (line, head) = (tile.rows().start, tile.cols().start / item);
        let (block, part) = (&order[blocks[line / parts].clone()], line % parts);
        let in_part = |t: usize| in_part(&visible(rows, t), part, part_len);
        let positions = block.iter().map(|&t| in_part(t)).filter(|range| !range.is_empty());
        let (start, end) = positions.fold((usize::MAX, 0), |(start, end), range| {
            (start.min(range.start), end.max(range.end))
        });
        let (sums, states) = halves(tile.row_mut(line), most);
        let mut softmax = [OnlineSoftmax::default(); MAX_BLOCK_QUERIES];
        if start < end {
            sums.fill(0.0);
            let mut readers: [Reader; MAX_BLOCK_QUERIES] = array::from_fn(|_| Reader::default());
            let theirs = sums.chunks_exact_mut(group * d).zip(softmax.chunks_exact_mut(group));
            for ((reader, &t), (sums, softmax)) in readers.iter_mut().zip(block).zip(theirs) {
                let q = &q[t * width + head * group * d..][..group * d];
                let (sequence, visible) = (rows[t].sequence, in_part(t));
                *reader = Reader { sequence, visible, q, softmax, sums };
            }
            let readers = &mut readers[..block.len()];
            let desk = Desk::for_queries(readers.len() * group);
            let mut desk = desk.with_q8(cache.holds_q8());
            read_pages(cache, (layer, head), start..end, readers, scale, &mut desk);
        }
        for (state, softmax) in states.chunks_exact_mut(2).zip(softmax) {
            state.copy_from_slice(&[softmax.max, softmax.total]);
        }
    });
    let seen = &*seen;
    plan.team.parallel_tiles(out, width, (1, group * d), |tile| {
        let (t, head) = (tile.rows().start, tile.cols().start / (group * d));
        let out = tile.row_mut(t);
        let (block, place) = places[t];
        for (g, out) in out.chunks_exact_mut(d).enumerate() {
            let mut softmax = OnlineSoftmax::default();
            out.fill(0.0);
            for part in 0..visible(rows, t).end.div_ceil(part_len) {
                let item = &seen[((block * parts + part) * heads + head) * item..][..item];
                let (sums, states) = item.split_at(item.len() - 2 * most);
                let query = place * group + g;
                let (max, total) = (states[2 * query], states[2 * query + 1]);
                let part = OnlineSoftmax { max, total };
                join(&mut softmax, out, part, &sums[query * d..][..d]);
            }
            out.iter_mut().for_each(|x| *x /= softmax.total);
        }
    });
}

impl<C: Pages> KvCache for InParts<C> {
    fn shape(&self) -> CacheShape {
        self.cache.shape()
    }

    fn len(&self, sequence: usize) -> usize {
        self.cache.len(sequence)
    }

    fn write(
        &mut self,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        self.cache.write(layer, sequence, position, keys, values);
    }

    fn runs(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        self.cache.runs(layer, sequence, head, positions)
    }

    fn advance(&mut self, sequence: usize, position: usize) {
        self.cache.advance(sequence, position);
    }

    fn truncate(&mut self, sequence: usize, len: usize) {
        self.cache.truncate(sequence, len);
    }

    fn holds_q8(&self) -> bool {
        self.cache.holds_q8()
    }

    fn attend(&self, plan: &Plan, layer: usize, queries: Queries<'_>, out: &mut [f32]) -> bool {
        if plan.attention != AttentionKind::Streaming {
            return false;
        }
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        attend_in_parts(plan, &self.cache, self.part_len, layer, queries, &mut room, out);
        true
    }
}

impl<C: Pages + EngineCache> EngineCache for InParts<C> {
    fn reserve(&mut self, sequence: usize, len: usize) -> bool {
        self.cache.reserve(sequence, len)
    }

    fn attach_prefix(&mut self, sequence: usize, tokens: &[u32]) -> usize {
        self.cache.attach_prefix(sequence, tokens)
    }

    fn pages_of_others(&self, sequence: usize) -> usize {
        self.cache.pages_of_others(sequence)
    }

    fn remember(&mut self, sequence: usize, tokens: &[u32]) {
        self.cache.remember(sequence, tokens);
    }
}

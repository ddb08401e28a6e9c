//! Week 3, day 4, on fresh inputs.

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, KvCache},
        rows::Row,
        streaming::OnlineSoftmax,
    },
    week3::{
        paged::PagedCache,
        parts::{in_part, join},
        reader::{Desk, Reader, arrange, read_pages, read_run},
    },
};
use tiny_llm_harness::fresh::Fresh;

const D: usize = 8;

/// Returns a cache in pages of 32 with four sequences, some of which share a prompt.
fn cache(fresh: &Fresh) -> PagedCache {
    let shape = CacheShape { layers: 1, sequences: 4, kv_heads: 1, capacity: 256, head_dim: D };
    let mut cache = PagedCache::new(shape, 32, 40, CacheType::F32);
    let append = |cache: &mut PagedCache, sequence: usize, n: usize| {
        for position in cache.len(sequence)..cache.len(sequence) + n {
            cache.write(0, sequence, position, &fresh.f32s(D), &fresh.f32s(D));
            cache.advance(sequence, position);
        }
    };
    append(&mut cache, 0, fresh.from_to(40, 90));
    append(&mut cache, 1, fresh.from_to(1, 100));
    cache.fork(0, 2);
    append(&mut cache, 2, fresh.from_to(1, 70));
    cache.fork(fresh.below(3), 3);
    (0..4).for_each(|sequence| append(&mut cache, sequence, fresh.from_to(1, 40)));
    cache
}

/// Returns rows of random sequences, in any order.
fn rows(fresh: &Fresh, cache: &PagedCache) -> Vec<Row> {
    (0..fresh.from_to(3, 12))
        .map(|_| {
            let sequence = fresh.below(4);
            let position = fresh.below(cache.len(sequence));
            Row { token: 0, position, sequence, logits: false }
        })
        .collect()
}

/// Creates the readers `seen`, calls `work` with them, and answers with their softmaxes and sums.
fn read(
    fresh: &Fresh,
    heads: usize,
    seen: &[(usize, std::ops::Range<usize>)],
    work: impl Fn(&mut [Reader], &mut Desk),
) {
    let q = fresh.f32s(seen.len() * heads * D);
    let mut softmax = vec![OnlineSoftmax::default(); seen.len() * heads];
    let mut sums = vec![0.0; seen.len() * heads * D];
    let theirs = softmax.chunks_exact_mut(heads).zip(sums.chunks_exact_mut(heads * D));
    let all = seen.iter().zip(q.chunks_exact(heads * D)).zip(theirs);
    let mut readers: Vec<Reader> = all
        .map(|(((sequence, visible), q), (softmax, sums))| {
            let (sequence, visible) = (*sequence, visible.clone());
            Reader { sequence, visible, q, softmax, sums }
        })
        .collect();
    work(&mut readers, &mut Box::new(Desk::default()));
    let states: Vec<f32> = softmax.iter().flat_map(|state| [state.max, state.total]).collect();
    fresh.answers("maximums and totals", &states, 1e-3);
    fresh.answers("sums", &sums, 1e-2);
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week3-day4 task 1");
    for _ in 0..4 {
        let (cache, heads) = (cache(&fresh), fresh.from_to(1, 5));
        let len = cache.len(0);
        let seen: Vec<_> = (0..fresh.from_to(1, 6))
            .map(|_| (0, fresh.below(len / 2)..fresh.from_to(len / 2 + 1, len)))
            .collect();
        read(&fresh, heads, &seen, |readers, desk| {
            cache.runs(0, 0, 0, 0..len).for_each(|run| read_run(readers, run, D, 0.25, desk));
        });
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week3-day4 task 2");
    for _ in 0..4 {
        let cache = cache(&fresh);
        let (rows, mut order) = (rows(&fresh, &cache), Vec::new());
        arrange(&cache, &rows, &mut order);
        // Several orders put readers of the same pages next to each other. All of them are allowed.
        let mut sorted = order.clone();
        sorted.sort_unstable();
        fresh.says("indices", &sorted);
        order = sorted;
        order.sort_by_key(|&t| (rows[t].sequence, rows[t].position));
        let seen: Vec<_> =
            order.iter().map(|&t| (rows[t].sequence, 0..rows[t].position + 1)).collect();
        let end = seen.iter().map(|(_, seen)| seen.end).max().unwrap_or(0);
        read(&fresh, 2, &seen, |readers, desk| {
            read_pages(&cache, (0, 0), 0..end, readers, 0.25, desk);
        });
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week3-day4 task 3");
    for _ in 0..20 {
        let start = fresh.below(200);
        let visible = start..start + fresh.below(200);
        for i in 0..5 {
            let part = in_part(&visible, i, 96);
            fresh.says("a part", &(!part.is_empty()).then_some(part));
        }
    }
    for _ in 0..6 {
        let (mut softmax, mut sums) = (OnlineSoftmax::default(), vec![0.0; 5]);
        for _ in 0..fresh.from_to(1, 5) {
            let some = fresh.below(4) > 0;
            let max = if some { 10.0 * fresh.f32() } else { f32::NEG_INFINITY };
            let total = if some { 1.0 + 9.0 * fresh.uniform() as f32 } else { 0.0 };
            let part: Vec<f32> = if some { fresh.f32s(5) } else { vec![0.0; 5] };
            join(&mut softmax, &mut sums, OnlineSoftmax { max, total }, &part);
            fresh.answers("the maximum and the total", &[softmax.max, softmax.total], 1e-3);
            fresh.answers("sums", &sums, 1e-3);
        }
    }
}

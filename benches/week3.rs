//! Measures the numbers in week 3's checkpoints: `cargo bench --bench week3 --features week3-day4`.
//!
//! Times are the best of several runs, because other load on the machine can only add to them.
#![allow(missing_docs, reason = "a benchmark has no readers of its documentation")]

use std::{hint::black_box, time::Instant};

use tiny_llm::{
    week2::{
        attention::attend,
        cache::{CacheShape, CacheType, DenseCache, KvCache},
        kernels::Rung,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rows::{Queries, Row},
    },
    week3::{in_parts::InParts, paged::PagedCache},
};

/// One layer of TinyLlama's shape: 32 query heads on four key/value heads of 64.
const SHAPE: CacheShape =
    CacheShape { layers: 1, sequences: 16, kv_heads: 4, capacity: 4096, head_dim: 64 };
const GROUP: usize = 8;

/// Returns signed numbers, the same in every run.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// Appends `n` positions to a sequence.
fn append(cache: &mut impl KvCache, sequence: usize, n: usize) {
    let width = SHAPE.kv_heads * SHAPE.head_dim;
    let start = cache.len(sequence);
    let x = numbers(n * width, (sequence * 10_000 + start) as u64);
    for (position, x) in (start..).zip(x.chunks_exact(width)) {
        cache.write(0, sequence, position, x, x);
        cache.advance(sequence, position);
    }
}

/// Runs a step's attention over both caches in turns. Returns the shortest time of each in ms.
fn times<A: KvCache, B: KvCache>(threads: usize, one: &A, other: &B, rows: &[Row]) -> [f64; 2] {
    let (kernels, attention) = (Rung::Naive.into(), AttentionKind::Streaming);
    let plan = Plan { kernels, attention, team: Team::new(threads) };
    let q = numbers(rows.len() * SHAPE.kv_heads * GROUP * SHAPE.head_dim, 7);
    let queries = Queries { rows, q: &q, group: GROUP, head_dim: SHAPE.head_dim };
    let mut out = vec![0.0; q.len()];
    let mut best = [f64::INFINITY; 2];
    for _ in 0..60 {
        let start = Instant::now();
        attend(&plan, one, 0, queries, &mut out);
        black_box(&mut out);
        let between = Instant::now();
        attend(&plan, other, 0, queries, &mut out);
        black_box(&mut out);
        let took = [between - start, between.elapsed()].map(|time| time.as_secs_f64() * 1e3);
        best = [best[0].min(took[0]), best[1].min(took[1])];
    }
    best
}

fn row(sequence: usize, len: usize) -> Row {
    Row { token: 0, position: len - 1, sequence, logits: true }
}

fn main() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    println!("Attention of one step in one layer of TinyLlama's shape, f16, ms, best of 60");
    println!("{:<44} {:>7} {:>10} {:>10}", "", "threads", "row by row", "in parts");
    let paged = || PagedCache::new(SHAPE, 32, 1100, CacheType::F16);
    let mut threads: Vec<usize> = vec![1, threads];
    threads.dedup();
    for threads in threads {
        let line = |what: &str, [one, other]: [f64; 2]| {
            println!("{what:<44} {threads:>7} {one:>10.3} {other:>10.3}");
        };
        for len in [500, 1000, 4000] {
            let mut dense = DenseCache::new(SHAPE, CacheType::F16);
            let mut pages = paged();
            append(&mut dense, 0, len);
            append(&mut pages, 0, len);
            let (dense_parts, rows) = (InParts::new(dense.clone()), [row(0, len)]);
            let what = format!("one text of {len} tokens, dense");
            line(&what, times(threads, &dense, &dense_parts, &rows));
            let mut parts = paged();
            append(&mut parts, 0, len);
            let what = format!("one text of {len} tokens, pages of 32");
            line(&what, times(threads, &pages, &InParts::new(parts), &rows));
        }
        let make = || {
            let mut cache = paged();
            append(&mut cache, 0, 1000);
            cache
        };
        let rows: Vec<Row> = (873..=1000).map(|len| row(0, len)).collect();
        let what = "the last 128 rows of a prompt of 1000";
        line(what, times(threads, &make(), &InParts::new(make()), &rows));
        for shared in [false, true] {
            let make = || {
                let mut cache = paged();
                append(&mut cache, 0, 500);
                for sequence in 1..16 {
                    if shared {
                        cache.fork(0, sequence);
                    } else {
                        append(&mut cache, sequence, 500);
                    }
                }
                (0..16).for_each(|sequence| append(&mut cache, sequence, 20));
                cache
            };
            let rows: Vec<Row> = (0..16).map(|sequence| row(sequence, 520)).collect();
            let what = if shared { "16 answers to one prompt of 500" } else { "16 texts of 520" };
            line(what, times(threads, &make(), &InParts::new(make()), &rows));
        }
    }
}

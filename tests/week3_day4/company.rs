//! Week 3, day 4, task 2: readers of a page that see different parts of it, in any order.

use std::ops::Range;

use tiny_llm::{
    week2::kernels::vector::TILE,
    week3::reader::{Desk, read_pages},
};
use tiny_llm_harness::{
    check::{assert_accepts, resting_on},
    fixtures::random,
};

use super::{Held, READ, Tables, drawn::below, tables, values};

/// Calls `read_pages` on the positions `asked`. Returns each reader's maximum, total and sums.
fn seen(
    cache: &Tables,
    asked: &Range<usize>,
    q: &[f32],
    readers: &[(usize, Range<usize>)],
) -> Vec<f32> {
    let mut held = Held::new(readers.len(), 8);
    let mut readers = held.readers(q, readers, 1, 8);
    let mut desk = Box::new(Desk::default());
    read_pages(cache, (0, 0), asked.clone(), &mut readers, 0.3, &mut desk);
    let states = held.softmax.iter().flat_map(|state| [state.max, state.total]);
    let per_reader = states.collect::<Vec<_>>();
    let sums = held.sums.chunks_exact(8);
    per_reader.chunks_exact(2).zip(sums).flat_map(|(state, sums)| [state, sums].concat()).collect()
}

/// Works like [`tables`], with pages of `page_len` positions.
fn pages_of(page_len: usize, all: &[&[usize]]) -> Tables {
    let mut tables = tables(all);
    let numbers = tables.keys.len() / 32 * page_len;
    (tables.keys, tables.values) = (values(&random(3, &[numbers])), values(&random(4, &[numbers])));
    tables.shape.capacity = tables.shape.capacity / 32 * page_len;
    Tables { page_len, ..tables }
}

#[test]
fn task_2_read_pages_is_independent_of_other_readers() {
    let all: &[&[usize]] = &[&[2, 0, 1, 3], &[2, 0, 4], &[2, 0, 1, 5], &[6]];
    // Pages of one tile and of three.
    let caches = [1, 3].map(|tiles| pages_of(tiles * TILE, all));
    resting_on(&[READ], || {
        for seed in 0..600 {
            let mut below = below(seed);
            let cache = &caches[below(2)];
            let page_len = cache.page_len;
            let n = 1 + below(4);
            let readers: Vec<(usize, Range<usize>)> = (0..n)
                .map(|_| {
                    let sequence = [0, 1, 2, 0, 1, 2, 3][below(7)];
                    let end = below(all[sequence].len() * page_len + 1);
                    (sequence, below(end + 1)..end)
                })
                .collect();
            let start = below(4 * page_len);
            let asked = start..start + below(4 * page_len + 1 - start);
            let q = values(&random(seed, &[n * 8]));
            let what = format!(
                "read_pages of positions {asked:?} for readers (sequence, visible positions) \
                 {readers:?}, page tables {all:?}, {page_len} positions a page"
            );
            let found = assert_accepts(&what, || seen(cache, &asked, &q, &readers));
            for (i, reader) in readers.iter().enumerate() {
                let mine = &q[i * 8..][..8];
                let alone = seen(cache, &asked, mine, std::slice::from_ref(reader));
                assert!(
                    found[i * 10..][..10] == alone,
                    "{what}: reader {i} has (maximum, total, sums)\n  together {:?}\n  alone    \
                     {alone:?}\n  other readers of the same page must not change its result",
                    &found[i * 10..][..10]
                );
            }
        }
    });
}

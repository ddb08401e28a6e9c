//! Week 3, day 3: empty pools, pages with very many owners, and reservations that must fail.

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, Cells, KvCache},
        kernels::vector::TILE,
    },
    week3::{paged::PagedCache, pool::BlockPool, room::EngineCache},
};
use tiny_llm_harness::check::{assert_accepts, assert_panics};

#[test]
fn task_1_pools_of_various_sizes() {
    for pages in [0usize, 1, 2, 300, 70_000] {
        let pool = BlockPool::new(pages);
        for (asked, fits) in [
            (0, true),
            (pages.saturating_sub(1), true),
            (pages, true),
            (pages + 1, false),
            (usize::MAX, false),
        ] {
            let found = pool.can_allocate(asked);
            assert!(
                found == fits,
                "can_allocate({asked}) with {pages} free pages: found {found}, expected {fits}"
            );
        }
        let mut pool = pool;
        let mut lent = Vec::new();
        while let Some(page) = pool.allocate() {
            assert!(
                page.index() == lent.len(),
                "allocate in a new pool of {pages} pages: got page {} as number {}, expected pages \
                 in order",
                page.index(),
                lent.len()
            );
            lent.push(page);
        }
        assert_eq!(
            (lent.len(), pool.num_free()),
            (pages, 0),
            "{pages} pages: (allocated, still free)"
        );
        assert!(
            !pool.can_allocate(1) && pool.can_allocate(0),
            "all {pages} pages allocated: can_allocate(1) must be false and can_allocate(0) true"
        );
        lent.into_iter().rev().for_each(|page| pool.release(page));
        assert_eq!(pool.num_free(), pages, "{pages} pages, all released: free pages");
        let next = pool.allocate().map(|page| page.index());
        assert_eq!(
            next,
            pages.checked_sub(1),
            "{pages} pages, released last to first: the page allocated next"
        );
    }
}

#[test]
fn task_1_page_with_many_owners() {
    for owners in [2usize, 255, 256, 257, 65_535, 65_536, 70_000] {
        let mut pool = BlockPool::new(2);
        let first = pool.allocate().expect("allocate must return a free page");
        let mut others: Vec<_> = (1..owners).map(|_| pool.retain(&first)).collect();
        assert_eq!(
            pool.num_owners(&first),
            owners,
            "owners of a page that was retained {} times",
            owners - 1
        );
        assert!(
            others.iter().all(|page| page.index() == first.index()),
            "retain must return the same page"
        );
        pool.release(first);
        while let Some(page) = others.pop() {
            assert_eq!(
                (pool.num_owners(&page), pool.num_free()),
                (others.len() + 1, 1),
                "a page with {owners} owners, {} of them left: (owners, free pages)",
                others.len() + 1
            );
            pool.release(page);
        }
        assert_eq!(
            (pool.num_owners_of(0), pool.num_free()),
            (0, 2),
            "all {owners} owners have released the page: (owners, free pages)"
        );
    }
}

const SHAPE: CacheShape =
    CacheShape { layers: 2, sequences: 3, kv_heads: 2, capacity: 5 * TILE, head_dim: 3 };

fn write(cache: &mut PagedCache, sequence: usize, number: f32) {
    let position = cache.len(sequence);
    for layer in 0..SHAPE.layers {
        let keys: Vec<f32> = (0..6).map(|i| number + (layer * 6 + i) as f32).collect();
        let values: Vec<f32> = keys.iter().map(|x| -x).collect();
        cache.write(layer, sequence, position, &keys, &values);
    }
    cache.advance(sequence, position);
}

#[test]
fn task_2_reserve_and_truncate_edge_cases() {
    let mut cache = PagedCache::new(SHAPE, TILE, 6, CacheType::F32);
    for (len, fits) in [
        (0, true),
        (usize::MAX, false),
        (5 * TILE + 1, false),
        (5 * TILE, true),
        (3, true),
        (5 * TILE, true),
        (usize::MAX - 1, false),
    ] {
        let free = cache.pool().num_free();
        let what = format!("reserve(0, {len}) with a capacity of {}", 5 * TILE);
        let found = assert_accepts(&what, || cache.reserve(0, len));
        assert!(found == fits, "{what}: found {found}, expected {fits}");
        if !fits {
            assert_eq!(cache.pool().num_free(), free, "{what}: free pages must not change");
        }
    }
    assert_eq!(cache.table(0).len(), 5, "pages of a sequence whose whole capacity is reserved");
    // One page is left, for any of the other sequences.
    for (sequence, len, fits) in [(1, TILE + 1, false), (1, TILE, true), (2, 1, false)] {
        let found = cache.reserve(sequence, len);
        assert!(
            found == fits,
            "at most one page is free: reserve({sequence}, {len}) returned {found}, expected {fits}"
        );
    }
    for len in [usize::MAX, 7, 0] {
        let what = format!("truncate(0, {len}) of a sequence without positions");
        assert_accepts(&what, || cache.truncate(0, len));
        assert_eq!((cache.len(0), cache.table(0).len()), (0, 0), "{what}: (length, pages)");
    }
    assert_eq!(cache.pool().num_free(), 5, "free pages of six after the truncate");
    assert_panics("write at the first position past the capacity", || {
        let mut cache = PagedCache::new(SHAPE, TILE, 9, CacheType::F32);
        cache.write(0, 0, 5 * TILE, &[0.0; 6], &[0.0; 6]);
    });
    assert_panics("runs of position 0 of a sequence without pages", || {
        PagedCache::new(SHAPE, TILE, 9, CacheType::F32).runs(0, 0, 0, 0..1).count()
    });
    let none = cache.runs(0, 0, 0, 0..0).count();
    assert_eq!(none, 0, "runs of no positions of a sequence without pages");
}

fn numbers(cells: Cells<'_>) -> Vec<f32> {
    match cells {
        Cells::F32(x) => x.to_vec(),
        Cells::F16(x) => x.iter().map(|x| x.to_f32()).collect(),
    }
}

/// Two sequences grow in turns, so that their pages alternate.
#[test]
fn task_2_runs_over_various_ranges_in_f32_and_f16() {
    for cache_type in [CacheType::F32, CacheType::F16] {
        let mut cache = PagedCache::new(SHAPE, TILE, 10, cache_type);
        let n = 3 * TILE + 5;
        let number = |sequence: usize, position: usize| (sequence * 200 + position * 8) as f32;
        for position in 0..n {
            for sequence in [2, 0] {
                write(&mut cache, sequence, number(sequence, position));
            }
        }
        for (start, end) in [
            (0, n),
            (1, 2),
            (TILE - 1, TILE + 1),
            (TILE, 2 * TILE),
            (TILE + 3, 3 * TILE + 5),
            (n - 1, n),
            (5, 5),
        ] {
            for (sequence, layer, head) in [(0, 0, 1), (2, 1, 0), (2, 0, 1), (0, 1, 1)] {
                let what = format!(
                    "positions {start}..{end} of sequence {sequence}, layer {layer}, head {head} \
                     in {cache_type}"
                );
                let (mut keys, mut values, mut next) = (Vec::new(), Vec::new(), start);
                for run in cache.runs(layer, sequence, head, start..end) {
                    assert_eq!(run.start, next, "{what}: start of a run");
                    assert!(
                        (run.start + run.len).is_multiple_of(TILE) || run.start + run.len == end,
                        "{what}: a run ends at {}, inside a page, expected the end of the page",
                        run.start + run.len
                    );
                    next += run.len;
                    keys.extend(numbers(run.keys));
                    values.extend(numbers(run.values));
                }
                let expected: Vec<f32> = (start..end)
                    .flat_map(|p| {
                        (0..3).map(move |i| number(sequence, p) + (layer * 6 + head * 3 + i) as f32)
                    })
                    .collect();
                let negative: Vec<f32> = expected.iter().map(|x| -x).collect();
                assert!(
                    keys == expected && values == negative,
                    "{what}: found keys {keys:?} and values {values:?}, expected keys {expected:?} \
                     and the same values with a minus sign"
                );
            }
        }
    }
}

#[test]
fn task_3_fork_of_empty_sequence_and_of_fork() {
    let mut cache = PagedCache::new(SHAPE, TILE, 8, CacheType::F32);
    assert_accepts("fork of a sequence without positions", || cache.fork(0, 1));
    assert_eq!(
        (cache.len(1), cache.table(1).len(), cache.pool().num_free()),
        (0, 0, 8),
        "fork of a sequence without positions: (length, pages, free pages)"
    );
    for position in 0..TILE + 2 {
        write(&mut cache, 0, position as f32);
    }
    cache.fork(0, 1);
    cache.fork(1, 2);
    let owners: Vec<usize> =
        cache.table(0).iter().map(|page| cache.pool().num_owners(page)).collect();
    assert_eq!(
        owners,
        [3, 3],
        "owners of two pages shared by a sequence, its fork and the fork's fork"
    );
    // Each sequence writes its own position.
    for (sequence, copied) in [(1, 1), (2, 2), (0, 2)] {
        write(&mut cache, sequence, 500.0 + sequence as f32);
        assert_eq!(
            cache.copied(),
            copied,
            "three owners share a page that is not full, and sequence {sequence} writes: pages \
             copied so far"
        );
    }
    for sequence in 0..3 {
        let all: Vec<f32> =
            cache.runs(1, sequence, 1, 0..TILE + 3).flat_map(|run| numbers(run.keys)).collect();
        assert_eq!(
            [all[3 * (TILE + 1)], all[3 * (TILE + 2)]],
            [(TILE + 1) as f32 + 9.0, 500.0 + sequence as f32 + 9.0],
            "three sequences shared a page, then each wrote its own next position. Sequence \
             {sequence}: first key element at the last shared position and at its own"
        );
    }
}

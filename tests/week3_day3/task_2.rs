//! Week 3, day 3, task 2: a cache in pages.

use std::ops::Range;

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, Cells, DenseCache, KvCache, Run},
        kernels::vector::TILE,
        model::{Model, Workspace},
        plan::Plan,
        rows::Row,
    },
    week3::{paged::PagedCache, room::EngineCache},
};
use tiny_llm_harness::check::{assert_accepts, assert_answer, assert_panics, resting_on};

use super::{
    POOL, SHAPE, append, below, cache, check_script, holds, model, number, numbers, pages, plan,
    row, values,
};

#[test]
fn task_2_append_to_one_sequence() {
    check_script("task_2_script/one_text");
}

#[test]
fn task_2_append_to_sequences_alternately() {
    check_script("task_2_script/in_turns");
}

#[test]
pub(super) fn task_2_truncated_pages_are_reused() {
    check_script("task_2_script/given_back");
}

#[test]
pub(super) fn task_2_truncate_at_page_boundary() {
    check_script("task_2_script/to_the_edge");
}

/// With a single sequence, the pages of one head are contiguous, because attention reads by head.
#[test]
fn task_2_pages_of_a_head_are_contiguous() {
    resting_on(&[POOL], || {
        let mut cache = cache(3);
        let address = |cells: Cells| match cells {
            Cells::F32(numbers) => numbers.as_ptr().addr(),
            Cells::F16(numbers) => numbers.as_ptr().addr(),
        };
        append(&mut cache, 0, 0, 2 * TILE + 3);
        let row = TILE * SHAPE.head_dim * size_of::<f32>();
        for (_, layer, head) in places().filter(|place| place.0 == 0) {
            let runs: Vec<Run> = cache.runs(layer, 0, head, 0..2 * TILE + 3).collect();
            let keys: Vec<usize> = runs.iter().map(|run| address(run.keys)).collect();
            let values: Vec<usize> = runs.iter().map(|run| address(run.values)).collect();
            for (what, found) in [("keys", keys), ("values", values)] {
                let apart: Vec<isize> = found
                    .windows(2)
                    .map(|pair| pair[1].wrapping_sub(pair[0]).cast_signed())
                    .collect();
                assert!(
                    apart == [row.cast_signed(); 2],
                    "a sequence in pages 0, 1 and 2, layer {layer}, head {head}: the {what} of \
                     consecutive pages are {apart:?} bytes apart, expected {row}. Store a head's \
                     pages next to each other, because attention reads one head at a time"
                );
            }
        }
    });
}

#[test]
fn task_2_write_overwrites_after_advance() {
    resting_on(&[POOL], || {
        let mut cache = cache(2);
        append(&mut cache, 0, 0, 3);
        let (keys, before) = (row(7, 1, 1), row(0, 1, 2));
        cache.write(1, 0, 1, &keys, &values(&keys));
        let found: Vec<f32> = cache.runs(1, 0, 1, 1..3).flat_map(|run| numbers(run.keys)).collect();
        assert_answer(
            "keys of positions 1 and 2, after position 1 was written again",
            &found,
            &[&keys[5..], &before[5..]].concat(),
        );
    });
}

/// Checks all layers and heads, with both types, and with pages of one tile and of two.
#[test]
fn task_2_runs_return_what_was_written_per_layer_and_head() {
    resting_on(&[POOL], || {
        for (page_len, cache_type) in [(TILE, CacheType::F32), (2 * TILE, CacheType::F16)] {
            let mut cache = PagedCache::new(SHAPE, page_len, 7, cache_type);
            // The number as the cache stores it: these have up to 12 bits, f16 holds 11.
            let stored = |x: f32| match cache_type {
                CacheType::F16 => half::f16::from_f32(x).to_f32(),
                _ => x,
            };
            let small = |s: usize, layer: usize, position: usize| -> Vec<f32> {
                let row = (s * SHAPE.layers + layer) * 70 + position;
                (0..WIDTH).map(|i| stored((row * WIDTH + i) as f32)).collect()
            };
            let call =
                format!("two sequences of 70 positions in pages of {page_len}, written in turns");
            assert_accepts(&call, || {
                // Sequence 1 owns the first page, so that no page's index is its index in a text.
                cache.write(0, 1, 0, &[0.0; WIDTH], &[0.0; WIDTH]);
                cache.advance(1, 0);
                for position in 0..70 {
                    for s in [0, 2] {
                        for layer in 0..SHAPE.layers {
                            let keys = small(s / 2, layer, position);
                            let values: Vec<f32> = keys.iter().map(|x| -x).collect();
                            cache.write(layer, s, position, &keys, &values);
                        }
                        cache.advance(s, position);
                    }
                }
            });
            for (s, layer, head) in places() {
                let what = format!("{call}: sequence {s}, layer {layer}, head {head}");
                let found = |cells: fn(&Run) -> Vec<f32>| -> Vec<f32> {
                    cache.runs(layer, s, head, 0..70).flat_map(|run| cells(&run)).collect()
                };
                let of_head = head * SHAPE.head_dim..(head + 1) * SHAPE.head_dim;
                let expected: Vec<f32> = (0..70)
                    .flat_map(|p| small(s / 2, layer, p)[of_head.clone()].to_vec())
                    .collect();
                let keys = found(|run| numbers(run.keys));
                assert_answer(&format!("{what}: keys"), &keys, &expected);
                let expected: Vec<f32> = expected.iter().map(|x| -x).collect();
                let values = found(|run| numbers(run.values));
                assert_answer(&format!("{what}: values"), &values, &expected);
            }
        }
    });
}

/// Number of elements in a position's keys in one layer.
const WIDTH: usize = SHAPE.kv_heads * SHAPE.head_dim;

/// Returns all places that are filled: sequence, layer, head.
fn places() -> impl Iterator<Item = (usize, usize, usize)> {
    let layers = || (0..SHAPE.layers).flat_map(|l| (0..SHAPE.kv_heads).map(move |head| (l, head)));
    [0, 2].into_iter().flat_map(move |s| layers().map(move |(layer, head)| (s, layer, head)))
}

/// Start and length of each run.
type Runs = &'static [(usize, usize)];

/// Requests runs of ranges that begin and end anywhere.
#[test]
fn task_2_runs_end_at_page_or_range_end() {
    resting_on(&[POOL], || {
        let mut cache = PagedCache::new(SHAPE, 2 * TILE, 4, CacheType::F32);
        append(&mut cache, 1, 0, 200);
        let ranges: [(Range<usize>, Runs); 7] = [
            (0..200, &[(0, 64), (64, 64), (128, 64), (192, 8)]),
            (0..64, &[(0, 64)]),
            (5..20, &[(5, 15)]),
            (63..65, &[(63, 1), (64, 1)]),
            (64..65, &[(64, 1)]),
            (70..192, &[(70, 58), (128, 64)]),
            (30..30, &[]),
        ];
        for (range, expected) in ranges {
            let call = format!("pages of 64 positions, runs of {range:?}: start and length");
            let runs: Vec<Run> =
                assert_accepts(&call, || cache.runs(1, 1, 0, range.clone()).collect());
            let found: Vec<(usize, usize)> = runs.iter().map(|run| (run.start, run.len)).collect();
            assert_answer(&call, &found, &expected.to_vec());
            let keys: Vec<f32> = runs.iter().flat_map(|run| numbers(run.keys)).collect();
            let expected: Vec<f32> =
                range.clone().flat_map(|p| (0..5).map(move |d| number(0, 1, 0, p, d))).collect();
            assert_answer(&format!("runs of {range:?}: keys"), &keys, &expected);
        }
        assert_panics("runs of a position that has no page", || cache.runs(0, 0, 0, 0..1).count());
        assert_panics("runs of a layer that does not exist", || cache.runs(4, 1, 0, 0..1).count());
        assert_panics("runs of a head that does not exist", || cache.runs(0, 1, 2, 0..1).count());
    });
}

#[test]
pub(super) fn task_2_reserve_allocates_only_missing_pages() {
    resting_on(&[POOL], || {
        let mut cache = cache(6);
        append(&mut cache, 0, 0, 40);
        let mut done = vec!["40 positions of sequence 0".to_owned()];
        // Sequence, length, whether there is room, and the pages of sequences 0 and 1 and the free
        // ones.
        let script: [(usize, usize, bool, [usize; 3]); 10] = [
            (0, 40, true, [2, 0, 4]),
            (0, 10, true, [2, 0, 4]),
            (0, 64, true, [2, 0, 4]),
            (0, 65, true, [3, 0, 3]),
            (0, 96, true, [3, 0, 3]),
            (1, 97, false, [3, 0, 3]),
            (1, 96, true, [3, 3, 0]),
            (0, 96, true, [3, 3, 0]),
            (0, 97, false, [3, 3, 0]),
            (0, 193, false, [3, 3, 0]),
        ];
        for (sequence, len, room, expected) in script {
            done.push(format!("reserve({sequence}, {len})"));
            let call = format!("six pages of 32: {}", done.join(", "));
            let before = cache.copied();
            let found = assert_accepts(&call, || cache.reserve(sequence, len));
            assert!(
                cache.copied() == before,
                "{call}: found {} pages copied, expected none, as each has a single owner\n  \
                 diagnosis You copy the pages that the sequence already has, even those that it \
                 owns alone. Call `make_writable`, which copies only shared pages.",
                cache.copied() - before
            );
            let pages = [cache.table(0).len(), cache.table(1).len(), cache.pool().num_free()];
            assert_answer(
                &format!(
                    "{call}: (return value, [pages of sequence 0, pages of sequence 1, free pages])"
                ),
                &(found, pages),
                &(room, expected),
            );
        }
        append(&mut cache, 0, 0, 56);
        assert_answer("free pages after reserved positions were written", &pages(&cache).1, &0);
        holds("after reserve", &cache, 0, &[0; 96]);
        assert_panics("write to a position without a page when no page is free", || {
            cache.write(0, 0, 96, &[0.0; WIDTH], &[0.0; WIDTH]);
        });
        cache.truncate(0, 20);
        assert_answer("pages of sequence 0 after truncate(0, 20)", &cache.table(0).len(), &1);
        cache.truncate(1, 50);
        let found = (cache.table(1).len(), cache.len(1));
        assert_answer(
            "truncate(1, 50) of a sequence with reserved pages and no positions: (pages, length)",
            &found,
            &(0, 0),
        );
    });
}

#[test]
fn task_2_reserve_and_write_up_to_the_capacity() {
    resting_on(&[POOL], || {
        let mut cache = PagedCache::new(SHAPE, TILE, 20, CacheType::F32);
        for (len, room, pages) in
            [(401, false, 0), (399, true, 13), (401, false, 13), (400, true, 13)]
        {
            let call = format!("reserve(0, {len}) in a cache of 400 positions per sequence");
            let found = assert_accepts(&call, || cache.reserve(0, len));
            assert_answer(
                &format!("{call}: (return value, pages of sequence 0)\n "),
                &(found, cache.table(0).len()),
                &(room, pages),
            );
        }
        assert_accepts("all 400 positions of a sequence", || append(&mut cache, 0, 0, 400));
        holds("a sequence that is full", &cache, 0, &[0; 400]);
        assert_panics("position 400 of 400", || {
            cache.write(0, 0, 400, &[0.0; WIDTH], &[0.0; WIDTH]);
        });
        // If there are fewer pages than the capacity, they are the limit.
        let mut small = super::cache(2);
        let found = assert_accepts("reserve(1, 64) of two pages of 32", || small.reserve(1, 64));
        assert_answer("reserve(1, 64) with two free pages of 32", &found, &true);
    });
}

/// The pages of a sequence have room for less than one page beyond its positions.
#[test]
fn task_2_each_sequence_wastes_less_than_a_page() {
    resting_on(&[POOL], || {
        let (mut cache, mut below) = (cache(40), below(5));
        for done in 0..3000 {
            let sequence = below(3);
            if below(4) == 0 {
                let len = below(cache.len(sequence) + 1);
                cache.truncate(sequence, len);
            } else {
                let n = (1 + below(40)).min(SHAPE.capacity - cache.len(sequence));
                append(&mut cache, sequence, 0, n);
            }
            let used: usize = (0..3).map(|s| cache.len(s)).sum();
            let held: usize = (0..3).map(|s| cache.table(s).len()).sum();
            let bytes = cache.page_bytes() / TILE;
            assert_eq!(bytes, 2 * 4 * 2 * 5 * 4, "bytes of a position, in all layers and heads");
            assert!(
                held * cache.page_bytes() < used * bytes + 3 * cache.page_bytes(),
                "operation {done}: three sequences hold {held} pages for {used} positions; each \
                 must waste less than one page"
            );
            assert_eq!(
                cache.pool().num_free() + held,
                40,
                "operation {done}: free pages plus held pages"
            );
        }
    });
}

/// Runs prompts and steps of two sequences. The logits are the dense cache's, to the last bit.
#[test]
pub(super) fn task_2_logits_match_the_dense_cache() {
    let (model, plan) = (model(), plan());
    let row = |sequence: usize, position: usize| Row {
        token: ((position * 31 + sequence * 17) % 50) as u32,
        position,
        sequence,
        logits: position.is_multiple_of(5),
    };
    let passes: [Vec<Row>; 3] = [
        (0..70).map(|p| row(0, p)).chain((0..20).map(|p| row(1, p))).collect(),
        vec![row(0, 70), row(1, 20)],
        (21..66).map(|p| row(1, p)).chain([row(0, 71)]).collect(),
    ];
    fn run<C: KvCache>(model: &Model, plan: &Plan, passes: &[Vec<Row>], mut cache: C) -> Vec<f32> {
        let mut work = Workspace::default();
        let logits = |rows: &Vec<Row>| model.forward(rows, &mut cache, plan, &mut work).to_vec();
        passes.iter().flat_map(logits).collect()
    }
    let shape = CacheShape::of(&model.config, 2, 128);
    let expected = run(&model, &plan, &passes, DenseCache::new(shape, CacheType::F16));
    for page_len in [TILE, 2 * TILE] {
        let call = format!("two texts of 72 and 66 tokens over pages of {page_len}");
        let found = resting_on(&[POOL], || {
            assert_accepts(&call, || {
                let cache = PagedCache::new(shape, page_len, 6, CacheType::F16);
                run(&model, &plan, &passes, cache)
            })
        });
        assert!(found == expected, "{call}: the logits differ from those of the dense cache");
    }
}

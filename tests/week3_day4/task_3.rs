//! Week 3, day 4, task 3: a long context in parts.

use std::ops::Range;

use tiny_llm::{
    week2::{
        attention::attend,
        cache::{CacheShape, CacheType, DenseCache, KvCache},
        rows::{Queries, Row},
        streaming::OnlineSoftmax,
    },
    week3::{
        in_parts::InParts,
        paged::PagedCache,
        parts::{in_part, join},
        room::EngineCache,
    },
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    allocations::count,
    check::{Part, assert_accepts, assert_answer, resting_on},
    fixtures::{Case, Fixtures, random},
};

use super::{READ, Tables, check_pages, logits, model, plan, row, rows_of, values};

const WALK: &Part = &Part { task: "week3-day4 task 2", what: "read_pages", check: check_walk };

fn check_walk() {
    ["one_text", "a_prompt", "shared", "shared_then_not"].into_iter().for_each(check_pages);
}

#[test]
fn task_3_in_part_returns_visible_positions() {
    // The visible positions, the index of a part of 64 positions, and its visible positions.
    let cases: [(Range<usize>, usize, Range<usize>); 9] = [
        (0..100, 0, 0..64),
        (0..100, 1, 64..100),
        (0..64, 0, 0..64),
        (0..65, 1, 64..65),
        (0..1, 0, 0..1),
        (70..90, 1, 70..90),
        (40..130, 0, 40..64),
        (40..130, 1, 64..128),
        (40..130, 2, 128..130),
    ];
    for (visible, i, expected) in cases {
        let call = format!("in_part({visible:?}, {i}, 64)");
        let found = assert_accepts(&call, || in_part(&visible, i, 64));
        assert_answer(&call, &found, &expected);
    }
    for (visible, i) in [(0..64, 1), (0..20, 3), (70..90, 0), (70..90, 2), (0..0, 0)] {
        let call = format!("in_part({visible:?}, {i}, 64)");
        let found = assert_accepts(&call, || in_part(&visible, i, 64));
        assert!(
            found.is_empty(),
            "{call}: found {found:?}, expected an empty range, because nothing in this part is \
             visible"
        );
    }
}

#[track_caller]
fn check_join(name: &str) {
    let case = Fixtures::open("week3_day4").case(&format!("task_3_join/{name}"));
    let (states, parts) = (case.tensor("states"), case.tensor("parts"));
    let d = parts.shape()[1];
    let (mut softmax, mut sums) = (OnlineSoftmax::default(), vec![0.0; d]);
    for (state, part) in states.outer_iter().zip(parts.outer_iter()) {
        let part: Vec<f32> = part.iter().copied().collect();
        let state = OnlineSoftmax { max: state[0], total: state[1] };
        join(&mut softmax, &mut sums, state, &part);
    }
    let names = ["the maximum".to_owned(), "the total".to_owned()];
    case.check_rows("state", &names, &tensor(&[2], vec![softmax.max, softmax.total]));
    case.check("sums", &tensor(&[d], sums));
}

#[test]
fn task_3_join_falling_maxima() {
    check_join("falling");
}

#[test]
fn task_3_join_rising_maxima() {
    check_join("rising");
}

#[test]
fn task_3_join_empty_part_first() {
    check_join("nothing_first");
}

#[test]
fn task_3_join_empty_part_last() {
    check_join("nothing_last");
}

#[test]
fn task_3_join_only_empty_parts() {
    check_join("nothing_at_all");
}

#[test]
fn task_3_join_very_negative_scores() {
    check_join("very_negative");
}

/// Joining the first part to an empty state must not change the part, to the last bit.
#[test]
fn task_3_join_into_empty_state_returns_the_part() {
    let (part, values) = (OnlineSoftmax { max: -3.7, total: 1.1 }, [0.1, -7.3, 1e-20]);
    let (mut softmax, mut sums) = (OnlineSoftmax::default(), [0.0; 3]);
    join(&mut softmax, &mut sums, part, &values);
    assert!(
        softmax == part && sums == values,
        "join of an empty state with {part:?}, {values:?} must give exactly that part: found \
         {softmax:?}, {sums:?}"
    );
}

/// Computes attention of a case in parts. Returns the output, and the pages and positions read.
fn in_parts(case: &Case, threads: usize) -> (Tensor, (usize, usize)) {
    let rows: Vec<Row> =
        case.read::<Vec<Vec<usize>>>("rows").iter().map(|at| row(at[0], at[1])).collect();
    let cache = InParts::with_part_len(Tables::of(case), case.count("part_len"));
    let (q, shape) = (case.numbers("q"), cache.shape());
    let group = q.len() / rows.len() / shape.kv_heads / shape.head_dim;
    let queries = Queries { rows: &rows, q: &q, group, head_dim: shape.head_dim };
    // The contents of the output before the call must not matter.
    let mut out = vec![f32::NAN; q.len()];
    attend(&plan(threads), &cache, 0, queries, &mut out);
    (tensor(&[rows.len(), q.len() / rows.len()], out), cache.inner().reads())
}

#[track_caller]
fn check_attend(name: &str) {
    let case = Fixtures::open("week3_day4").case(&format!("task_3_attend/{name}"));
    resting_on(&[READ, WALK], || {
        let (found, reads) = in_parts(&case, 1);
        case.check_rows("output", &rows_of(&case), &found);
        let expected = (2 * case.count("pages_read"), 2 * case.count("positions_read"));
        let what = format!("{}: pages and positions read, in two heads", case.name());
        assert_answer(&what, &reads, &expected);
        for threads in [2, 3] {
            let (other, _) = in_parts(&case, threads);
            assert!(
                other == found,
                "{}: {threads} threads give another result than one thread, but must give the same",
                case.name()
            );
        }
    });
}

#[test]
fn task_3_attention_in_two_parts() {
    check_attend("two_parts");
}

#[test]
fn task_3_attention_at_part_boundaries() {
    check_attend("edges");
}

#[test]
fn task_3_attention_over_shared_pages() {
    check_attend("shared");
}

#[test]
fn task_3_attention_with_rising_scores() {
    check_attend("rising");
}

/// The logits are the same with any cache, shared or unshared pages, and one thread or several.
#[test]
fn task_3_logits_are_independent_of_cache_and_threads() {
    resting_on(&[READ, WALK], || {
        let model = model();
        let shape = CacheShape::of(&model.config, 2, 384);
        let dense = || InParts::with_part_len(DenseCache::new(shape, CacheType::F16), 64);
        let paged = |page_len| {
            let pages = 800 / page_len;
            let cache = PagedCache::new(shape, page_len, pages, CacheType::F16);
            InParts::with_part_len(cache, 64)
        };
        let expected = logits(&model, 1, dense(), None);
        let plain = logits(&model, 1, DenseCache::new(shape, CacheType::F16), None);
        for (found, expected) in expected.iter().flatten().zip(plain.iter().flatten()) {
            let distance = (found - expected).abs();
            assert!(
                distance < 1e-3,
                "logits with and without parts differ too much: {found} and {expected}"
            );
        }
        let fork: fn(&mut InParts<PagedCache>) = |cache| cache.inner_mut().fork(0, 1);
        for (what, found) in [
            ("on three threads", logits(&model, 3, dense(), None)),
            ("over pages of 32", logits(&model, 1, paged(32), None)),
            ("over pages of 64", logits(&model, 2, paged(64), None)),
            ("with shared pages", logits(&model, 1, paged(32), Some(fork))),
            ("with shared pages of 64 on two threads", logits(&model, 2, paged(64), Some(fork))),
        ] {
            assert!(found == expected, "{what}: the logits differ from those of the dense cache");
        }
    });
}

/// After the first call with rows of one size, attention allocates nothing.
#[test]
fn task_3_attention_allocates_nothing() {
    let shape = CacheShape { layers: 1, sequences: 2, kv_heads: 2, capacity: 300, head_dim: 16 };
    let mut cache = InParts::with_part_len(PagedCache::new(shape, 32, 20, CacheType::F32), 64);
    for sequence in 0..2 {
        assert!(
            cache.reserve(sequence, 300),
            "reserve of 300 positions must return true: 20 pages are enough"
        );
        for position in 0..300 {
            let numbers = values(&random(position as u64, &[32]));
            cache.write(0, sequence, position, &numbers, &numbers);
            cache.advance(sequence, position);
        }
    }
    let (rows, q) = ([row(0, 299), row(1, 250)], values(&random(9, &[2 * 4 * 16])));
    let (plan, mut out) = (plan(1), vec![0.0; q.len()]);
    let mut run = || {
        let queries = Queries { rows: &rows, q: &q, group: 2, head_dim: 16 };
        attend(&plan, &cache, 0, queries, &mut out);
    };
    run();
    let fewest = (0..50).map(|_| count(&mut run).0).min().expect("fifty counts");
    assert!(
        fewest == 0,
        "heap allocations in the attention of one step: found {fewest}, expected none"
    );
}

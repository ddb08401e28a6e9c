//! Week 4, day 3, task 2: an arena.

use tiny_llm::week4::arena::Arena;
use tiny_llm_harness::check::{assert_accepts, assert_answer, assert_panics};

use super::{each, graphs::drawn::below, list};

#[test]
pub(super) fn task_2_allocate_and_release_track_free_parts_and_peak() {
    each("task_2_arena/", |case| {
        let (mut arena, mut lent, mut done) = (Arena::default(), Vec::new(), Vec::new());
        for step in case.value("steps").as_array().expect("a list") {
            let n = list(&step["n"])[0];
            let mut at = 0;
            let act = if step["act"].as_str() == Some("take") {
                let act = format!("allocate({n})");
                at = assert_accepts(&act, || arena.allocate(n));
                lent.push((at, n));
                act
            } else {
                let (start, n) = lent[n];
                let act = format!("release({start}, {n})");
                assert_accepts(&act, || arena.release(start, n));
                act
            };
            let free = step["free"].as_array().expect("a list").iter();
            let free: Vec<(usize, usize)> =
                free.map(|part| (list(&part[0])[0], list(&part[1])[0])).collect();
            let expected = (list(&step["at"])[0], free, list(&step["peak"])[0]);
            let what = format!("{}: after {done:?}, {act}: (start, free parts, peak)", case.name());
            assert_answer(&what, &(at, arena.free_parts().to_vec(), arena.peak()), &expected);
            done.push(act);
        }
    });
}

#[test]
fn task_2_panics_on_invalid_release_or_zero_bytes() {
    let lent = || {
        let mut arena = Arena::default();
        arena.allocate(64);
        arena.allocate(128);
        arena.allocate(64);
        arena
    };
    let arena = assert_accepts("three parts", lent);
    for (why, first, start, bytes) in [
        ("the same part twice", Some((64, 128)), 64, 128),
        ("half of a free part", Some((64, 128)), 128, 64),
        ("a part that overlaps the free part after it", Some((64, 128)), 0, 128),
        ("a part that begins inside a free part", Some((64, 128)), 128, 128),
        ("a part past the end", None, 192, 128),
    ] {
        assert_panics(
            &format!("release, after allocations of 64, 128 and 64 bytes: {why}"),
            || {
                let mut arena = arena.clone();
                if let Some((start, bytes)) = first {
                    arena.release(start, bytes);
                }
                arena.release(start, bytes);
            },
        );
    }
    assert_panics("allocate(0)", || Arena::default().allocate(0));
}

/// Compares with a list of units, each free or not: no part overlaps another, and adjacent free
/// parts are merged.
#[test]
fn task_2_ten_thousand_random_operations() {
    let (mut arena, mut used, mut lent) = (Arena::default(), Vec::new(), Vec::new());
    let mut below = below(7);
    for done in 0..10_000 {
        if below(2) == 0 && !lent.is_empty() {
            let (start, n): (usize, usize) = lent.swap_remove(below(lent.len()));
            arena.release(start * 64, n * 64);
            used[start..start + n].fill(false);
        } else {
            let n = below(9) + 1;
            let start = arena.allocate(n * 64) / 64;
            used.resize(used.len().max(start + n), false);
            assert!(
                used[start..start + n].iter().all(|used| !used),
                "operation {done}: {n} units at {start} are allocated twice"
            );
            used[start..start + n].fill(true);
            lent.push((start, n));
        }
        let free: usize = arena.free_parts().iter().map(|part| part.1).sum();
        let expected = used.iter().filter(|used| !**used).count() * 64;
        assert_eq!(free, expected, "operation {done}: bytes of the free parts");
        let apart = arena.free_parts().windows(2).all(|two| two[0].0 + two[0].1 < two[1].0);
        assert!(
            apart,
            "operation {done}: adjacent free parts must be merged: {:?}",
            arena.free_parts()
        );
        assert_eq!(arena.peak(), used.len() * 64, "operation {done}: the peak");
    }
}

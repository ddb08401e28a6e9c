//! Week 2, day 7, task 2.

use half::f16;
use tiny_llm::week2::{
    cache::{Cells, Run},
    streaming::attend_streaming,
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    allocations::count,
    check::{assert_accepts, assert_agrees, assert_panics, resting_on},
    fixtures::random,
};

use super::{
    ABSORB, BEFORE, OnePosition, Stored, cells, check_every_position, fixtures, values,
    whatever_was_there,
};

#[test]
fn task_2_attend_streaming_includes_every_position() {
    check_every_position("attend_streaming", |runs| {
        let mut out = vec![BEFORE; 3];
        attend_streaming(&[1.0; 3], runs.iter().copied(), 1, 1.0, &mut out);
        out
    });
}

#[track_caller]
fn check_streaming(case: &str) {
    let case = fixtures().case(&format!("task_2_attend_streaming/{case}"));
    let (q, stored) = (case.tensor("q"), Stored::of(&case));
    let (numbers, scale) = (values(&q), case.scalar("scale") as f32);
    let heads: Vec<String> = (0..q.shape()[0]).map(|g| format!("head {g}")).collect();
    resting_on(&[ABSORB], || {
        let out = whatever_was_there(q.len(), |out| {
            attend_streaming(&numbers, stored.runs(), stored.dim, scale, out);
        });
        case.check_rows("output", &heads, &tensor(q.shape(), out));
    });
}

#[test]
fn task_2_attend_streaming_over_one_position() {
    check_streaming("one_position");
}

#[test]
fn task_2_attend_streaming_over_one_tile() {
    check_streaming("one_tile");
}

#[test]
fn task_2_attend_streaming_over_two_tiles_and_one_position() {
    check_streaming("tiles_and_one");
}

#[test]
fn task_2_attend_streaming_with_rising_scores() {
    check_streaming("rising");
}

#[test]
fn task_2_attend_streaming_over_several_runs() {
    check_streaming("runs");
}

#[test]
fn task_2_attend_streaming_over_1000_positions_in_f16() {
    check_streaming("half");
}

#[test]
fn task_2_attend_streaming_with_wide_head() {
    check_streaming("wide_head");
}

#[test]
fn task_2_attend_streaming_with_large_scores() {
    check_streaming("sharp");
}

#[test]
fn task_2_attend_streaming_allocates_nothing() {
    for (heads, dim, len, half) in [(4, 64, 2000, false), (16, 6, 70, true), (1, 256, 33, true)] {
        let numbers = |seed| {
            let x = values(&random(seed, &[len * dim]));
            let halves = x.iter().map(|&x| f16::from_f32(x)).collect();
            (x, halves)
        };
        let (k, v) = (numbers(2), numbers(3));
        let q = values(&random(1, &[heads * dim]));
        let mut out = vec![0.0; heads * dim];
        let mut run = || {
            let part = |start: usize, len: usize| {
                let range = start * dim..(start + len) * dim;
                Run {
                    start,
                    len,
                    keys: cells(&k, range.clone(), half),
                    values: cells(&v, range, half),
                }
            };
            let runs = [part(0, 32), part(32, len - 32)].into_iter();
            attend_streaming(&q, runs, dim, 0.125, &mut out);
        };
        run();
        let (allocations, ()) = count(&mut run);
        assert!(
            allocations == 0,
            "heap allocations of one call of attend_streaming over {len} positions, {heads} heads \
             of size {dim}, in {}: found {allocations}, expected none",
            if half { "f16" } else { "f32" }
        );
    }
}

#[test]
fn task_2_attend_streaming_accepts_16_heads_of_size_256() {
    assert_accepts("attend_streaming with 16 heads of size 256", || {
        OnePosition::new(16, 256).stream()
    })
    .check("head");
}

#[test]
fn task_2_attend_streaming_panics_on_head_size_257() {
    assert_panics("attend_streaming with a head of size 257", || OnePosition::new(1, 257).stream());
}

#[test]
fn task_2_attend_streaming_panics_on_17_heads() {
    assert_panics("attend_streaming with 17 heads", || OnePosition::new(17, 8).stream());
}

#[test]
fn task_2_attend_streaming_with_various_head_sizes() {
    for dim in [1, 6, 20, 84] {
        let [q, keys, stored] =
            [(1, 2), (2, 40), (3, 40)].map(|(s, n)| values(&random(s, &[n, dim])));
        let attend = |dim: usize, q: &[f32], keys: &[f32], stored: &[f32]| {
            let (keys, values) = (Cells::F32(keys), Cells::F32(stored));
            let run = Run { start: 0, len: 40, keys, values };
            let mut out = vec![BEFORE; q.len()];
            attend_streaming(q, std::iter::once(run), dim, 0.5, &mut out);
            out
        };
        // The same heads, padded with zeros to a multiple of 32.
        let wide = dim.next_multiple_of(32);
        let padded = |x: &[f32]| -> Vec<f32> {
            let rows = x.chunks_exact(dim);
            rows.flat_map(|row| [row, &vec![0.0; wide - dim]].concat()).collect()
        };
        let what = format!(
            "attend_streaming with heads of size {dim}, compared with heads padded with zeros to \
             {wide}"
        );
        let found = assert_accepts(&what, || attend(dim, &q, &keys, &stored));
        let expected = attend(wide, &padded(&q), &padded(&keys), &padded(&stored));
        let expected: Vec<f32> =
            expected.chunks_exact(wide).flat_map(|row| row[..dim].to_vec()).collect();
        resting_on(&[ABSORB], || {
            assert_agrees(
                &what,
                &tensor(&[2, dim], found),
                &tensor(&[2, dim], expected),
                1e-5,
                "zeros at the end of a head change nothing",
            );
        });
    }
}

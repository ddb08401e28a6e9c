//! Week 2, day 7, task 2.

use tiny_llm::week2::streaming::attend_streaming;
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    allocations::count,
    check::{assert_accepts, assert_panics, resting_on},
};

use super::{
    ABSORB, BEFORE, OnePosition, Stored, check_every_position, drawn, fixtures, values,
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
        let stored = Stored::drawn(2, dim, 0, &[32, len - 32], half);
        let q = drawn(1, heads * dim);
        let mut out = vec![0.0; heads * dim];
        let mut run = || attend_streaming(&q, stored.runs(), dim, 0.125, &mut out);
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

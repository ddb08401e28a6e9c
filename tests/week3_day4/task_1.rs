//! Week 3, day 4, task 1: a run and its readers.

use std::{iter, ops::Range};

use tiny_llm::{
    week2::cache::{Cells, Run},
    week3::reader::{Desk, read_run},
};
use tiny_llm_harness::{allocations::count, fixtures::random};

use super::{Held, check_read_run, values};

#[test]
fn task_1_read_run_for_one_row() {
    check_read_run("one_row");
}

#[test]
fn task_1_read_run_over_one_position() {
    check_read_run("one_position");
}

#[test]
fn task_1_read_run_for_rows_with_different_visible_ranges() {
    check_read_run("three_rows");
}

#[test]
fn task_1_read_run_for_many_rows() {
    check_read_run("many_rows");
}

#[test]
fn task_1_read_run_for_rows_with_sliding_windows() {
    check_read_run("windows");
}

#[test]
fn task_1_read_run_with_f16_keys_and_values() {
    check_read_run("half");
}

#[test]
fn task_1_read_run_with_rising_scores() {
    check_read_run("rising");
}

/// Two heads of a row that sees 40 positions are read alone and with other rows. The result is the
/// same, to the last bit.
#[test]
fn task_1_read_run_is_independent_of_other_readers() {
    let (dim, heads) = (32, 2);
    let numbers = |seed, n| values(&random(seed, &[n * dim]));
    let (q, keys, cells) = (numbers(1, 14), numbers(2, 96), numbers(3, 96));
    let read = |seen: &[(usize, Range<usize>)]| {
        let mut held = Held::new(seen.len() * heads, dim);
        for (start, len) in [(0, 32), (32, 64)] {
            let part = |x| Cells::F32(&Vec::as_slice(x)[start * dim..(start + len) * dim]);
            let run = Run { start, len, keys: part(&keys), values: part(&cells) };
            let mut readers = held.readers(&q, seen, heads, dim);
            let mut desk = Box::new(Desk::for_queries(if seen.len() > 5 { 128 } else { 1 }));
            read_run(&mut readers, run, dim, 0.2, &mut desk);
        }
        held
    };
    let alone = read(&[(0, 0..40)]);
    for others in [1, 3, 6] {
        let ranges: Vec<_> =
            iter::once((0, 0..40)).chain((0..others).map(|i| (0, 0..96 - 9 * i))).collect();
        let found = read(&ranges);
        let same =
            found.softmax[..2] == alone.softmax[..] && found.sums[..2 * dim] == alone.sums[..];
        assert!(
            same,
            "a row that sees 40 of 96 positions: its result alone differs from its result with \
             {others} other rows, but must be the same"
        );
    }
}

#[test]
fn task_1_read_run_allocates_nothing() {
    let (dim, len) = (64, 2048);
    let numbers = |seed, n| values(&random(seed, &[n * dim]));
    let (q, keys, cells) = (numbers(1, 4), numbers(2, len), numbers(3, len));
    let mut desk = Box::new(Desk::default());
    let mut held = Held::new(4, dim);
    let mut readers = held.readers(&q, &[(0, 0..len), (0, 0..1500)], 2, dim);
    let mut run = || {
        let run = Run { start: 0, len, keys: Cells::F32(&keys), values: Cells::F32(&cells) };
        read_run(&mut readers, run, dim, 0.125, &mut desk);
    };
    run();
    // Other tests of this program may allocate meanwhile. One run without allocations is proof.
    let fewest = (0..50).map(|_| count(&mut run).0).min().expect("fifty counts");
    assert!(
        fewest == 0,
        "heap allocations in read_run over {len} positions: found {fewest}, expected none. Read \
         keys and values in place"
    );
}

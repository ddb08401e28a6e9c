//! Tests the team in every order in which threads can take their steps, up to a number of
//! preemptions: every job runs exactly once, no thread sleeps forever, and no thread reads a job
//! that has ended.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --package tiny-llm-kernels --test loom --release`
#![cfg(loom)]

use loom::{
    model::Builder,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tiny_llm_kernels::parallel::{InOrder, Team};

/// Runs `test` in every order of steps with at most `interruptions` preemptions.
fn in_every_order(interruptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.check(test);
}

/// Runs a job that writes each of two cells once.
fn two_cells(team: &Team<InOrder>, number: usize) {
    let mut out = [0; 2];
    team.parallel_rows(&mut out, 1, 1, |row, out| out[0] += number + row);
    assert_eq!(out, [number, number + 1]);
}

#[test]
fn runs_consecutive_jobs() {
    in_every_order(2, || {
        let team = Team::new(2);
        two_cells(&team, 1);
        two_cells(&team, 5);
    });
}

#[test]
fn runs_jobs_after_enter() {
    in_every_order(2, || {
        let team = Team::new(2);
        team.enter();
        two_cells(&team, 1);
        two_cells(&team, 5);
    });
}

#[test]
fn runs_jobs_of_two_callers() {
    in_every_order(2, || {
        let team = Arc::new(Team::new(2));
        let other = Arc::clone(&team);
        let thread = loom::thread::spawn(move || {
            other.enter();
            two_cells(&other, 3);
        });
        two_cells(&team, 1);
        thread.join().unwrap();
    });
}

#[test]
fn runs_nested_jobs() {
    in_every_order(2, || {
        let team = Team::new(2);
        let inner = AtomicUsize::new(0);
        let mut out = [0; 2];
        team.parallel_rows(&mut out, 1, 1, |row, out| {
            two_cells(&team, row);
            inner.fetch_add(1, Relaxed);
            out[0] = row;
        });
        assert_eq!((out, inner.load(Relaxed)), ([0, 1], 2));
    });
}

#[test]
fn ends_without_a_job() {
    in_every_order(3, || {
        let team = Team::<InOrder>::new(2);
        team.enter();
    });
}

//! Teams with callers and schedules that break the rules: no two threads ever write the same
//! element, and no thread waits forever.

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use tiny_llm_kernels::parallel::{Counter, Cut, InOrder, Schedule, Team};

/// Visits the cells of a 5 × 7 output on three threads, in tiles of 2 × 3. Returns the number of
/// visits to each cell, and the team's panic message, if any.
fn counted<S: Schedule>() -> (Vec<usize>, Result<(), String>) {
    let team = Team::<S>::new(3);
    let mut cells: Vec<AtomicUsize> = (0..35).map(|_| AtomicUsize::new(0)).collect();
    let result = catch_unwind(AssertUnwindSafe(|| {
        team.parallel_tiles(&mut cells, 7, (2, 3), |tile| {
            for row in tile.rows() {
                for cell in tile.row_mut(row) {
                    cell.fetch_add(1, Relaxed);
                }
            }
        });
    }));
    let message = |panic: Box<dyn std::any::Any + Send>| {
        panic.downcast_ref::<String>().cloned().unwrap_or_else(|| {
            panic.downcast_ref::<&str>().map_or_else(String::new, |text| (*text).to_owned())
        })
    };
    // The team still works afterwards.
    let mut out = [0u8; 64];
    let again = catch_unwind(AssertUnwindSafe(|| team.parallel_rows(&mut out, 64, 1, |_, _| {})));
    assert!(again.is_ok(), "a team goes on after a panic");
    (cells.into_iter().map(AtomicUsize::into_inner).collect(), result.map_err(message))
}

type Area = (Range<usize>, Range<usize>);

/// Hands out tiles in order, but lets `change` replace each tile.
fn tiles(next: &impl Counter, cut: Cut, work: impl Fn(Area), change: impl Fn(usize, Area) -> Area) {
    let (down, across) = cut.tile;
    let in_a_row = cut.width.div_ceil(across);
    let count = cut.rows.div_ceil(down) * in_a_row;
    loop {
        let i = next.fetch_add(1, Relaxed);
        if i >= count {
            return;
        }
        let (top, left) = (i / in_a_row * down, i % in_a_row * across);
        let area = (top..cut.rows.min(top + down), left..cut.width.min(left + across));
        work(change(i, area));
    }
}

macro_rules! schedules {
    ($($name:ident: $body:expr;)*) => {$(
        struct $name;
        impl Schedule for $name {
            fn take_tiles(next: &impl Counter, cut: Cut, work: impl Fn(Area)) {
                tiles(next, cut, work, $body);
            }
        }
    )*};
}

schedules! {
    Right: |_, area| area;
    SameTile: |_, _| (0..2, 0..3);
    Overlapping: |_, (rows, cols)| (rows, cols.start..(cols.end + 1).min(7));
    Whole: |_, _| (0..5, 0..7);
    Beyond: |_, (rows, cols)| (rows.start..rows.start + 2, cols.start..cols.start + 3);
    FarOutside: |_, _| (usize::MAX - 1..usize::MAX, 0..1);
    Backwards: |_, (rows, cols)| (rows.end..rows.start, cols);
    Empty: |_, (rows, cols)| (rows.start..rows.start, cols);
}

/// Hands out no tile.
struct Lazy;

impl Schedule for Lazy {
    fn take_tiles(_: &impl Counter, _: Cut, _: impl Fn(Area)) {}
}

/// Gives every tile to every thread, as soon as two threads have started.
struct Greedy;

impl Schedule for Greedy {
    fn take_tiles(_: &impl Counter, cut: Cut, work: impl Fn(Area)) {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Relaxed);
        while THREADS.load(Relaxed) < 2 {
            std::thread::yield_now();
        }
        let next = AtomicUsize::new(0);
        tiles(&next, cut, work, |_, area| area);
    }
}

#[test]
fn visits_every_cell_once() {
    for (cells, result) in [counted::<InOrder>(), counted::<Right>()] {
        assert_eq!((cells, result), (vec![1; 35], Ok(())));
    }
}

#[test]
fn wrong_schedules_panic_without_overlapping_writes() {
    for (name, (cells, result)) in [
        ("the same tile", counted::<SameTile>()),
        ("overlapping tiles", counted::<Overlapping>()),
        ("the whole", counted::<Whole>()),
        ("tiles beyond the edge", counted::<Beyond>()),
        ("a tile far outside", counted::<FarOutside>()),
        ("a range that ends before it starts", counted::<Backwards>()),
        ("empty tiles", counted::<Empty>()),
        ("nothing", counted::<Lazy>()),
        ("everything on every thread", counted::<Greedy>()),
    ] {
        assert!(cells.iter().all(|&n| n <= 1), "{name}: {cells:?}");
        let message = result.expect_err(name);
        let words = ["tile", "a thread of the team panicked"];
        assert!(words.iter().any(|word| message.contains(word)), "{name}: {message}");
    }
}

#[test]
fn callers_on_several_threads_are_independent() {
    let team = Team::<InOrder>::new(2);
    let ready = Barrier::new(3);
    let caller = |who: usize| {
        let (team, ready) = (&team, &ready);
        move || {
            ready.wait();
            for round in 0..if cfg!(miri) { 3 } else { 50 } {
                if round % 3 == 0 {
                    team.enter();
                }
                let mut out = vec![0; 40];
                team.parallel_rows(&mut out, 4, 1, |row, out| out.fill(who + row));
                let expected: Vec<usize> = (0..40).map(|i| who + i / 4).collect();
                assert_eq!(out, expected, "caller {who}, round {round}");
            }
        }
    };
    std::thread::scope(|scope| {
        for who in [100, 200, 300] {
            scope.spawn(caller(who));
        }
    });
}

#[test]
fn work_may_call_its_team() {
    let team = Team::<InOrder>::new(2);
    let mut out = vec![0; 30];
    team.parallel_rows(&mut out, 5, 1, |row, out| {
        let mut inner = vec![0; 12];
        team.parallel_rows(&mut inner, 3, 1, |i, inner| inner.fill(i));
        out.fill(row + inner.iter().sum::<usize>());
    });
    let expected: Vec<usize> = (0..30).map(|i| i / 5 + 18).collect();
    assert_eq!(out, expected);
}

#[test]
fn a_panic_is_propagated_and_the_team_survives() {
    let team = Team::<InOrder>::new(2);
    let mut out = vec![0; 8];
    let panics = catch_unwind(AssertUnwindSafe(|| {
        team.parallel_rows(&mut out, 1, 1, |_, _| panic!("of all rows"));
    }));
    assert!(panics.is_err());
    team.parallel_rows(&mut out, 1, 1, |row, out| out[0] = row);
    assert_eq!(out, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
#[should_panic(expected = "row 3 is not in this tile")]
fn rejects_rows_outside_the_tile() {
    let mut out = vec![0; 12];
    Team::<InOrder>::new(1).parallel_tiles(&mut out, 3, (1, 3), |tile| {
        tile.row_mut(tile.rows().end + 2).fill(1);
    });
}

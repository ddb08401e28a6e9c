//! Week 3, day 2: a budget of rows, turns, and how long requests wait.
//!
//! Expected tokens: `python-ref/oracle/week3_day2.py`. The scheduler's results are small whole
//! numbers, compared with their definition.

#[path = "week3_day2/task_3.rs"]
mod task_3;

#[path = "week3_day2/budgets.rs"]
mod budgets;
#[path = "week3_day2/crowds.rs"]
mod crowds;
#[path = "parts/drawn.rs"]
mod drawn;
#[path = "week3_day2/edges.rs"]
mod edges;
#[path = "parts/serving.rs"]
mod serving;

use drawn::below;
use tiny_llm::week3::scheduler::{Load, Scheduler, share_prompts, take_turns};
use tiny_llm_harness::check;

/// Returns the load of a decoding request that has had no row for `waited` steps.
fn decoding(waited: usize) -> Load {
    Load { left: 1, decoding: true, waited }
}

/// Returns the load of a request that has `left` tokens of its prompt left to compute.
fn prompt(left: usize) -> Load {
    Load { left, decoding: false, waited: 0 }
}

/// Name, loads, rows, shares before the call, shares after it.
type Shares<'a> = (&'a str, &'a [Load], usize, &'a [usize], &'a [usize]);

// Task 1

#[test]
fn task_1_decoding_rows_leaves_reserved_rows_to_prompts() {
    let few = [decoding(0), decoding(0), prompt(100)];
    let many = [decoding(0); 9];
    let beside = |left| [&many[..], &[prompt(left)]].concat();
    let cases: [(&str, Scheduler, Vec<Load>, usize); 9] = [
        ("no requests", Scheduler { budget: 8, reserved: 1 }, vec![], 0),
        (
            "one row for each decoding request",
            Scheduler { budget: 8, reserved: 1 },
            few.to_vec(),
            2,
        ),
        ("only prompts", Scheduler { budget: 8, reserved: 1 }, vec![prompt(3), prompt(9)], 0),
        (
            "more decoding requests than rows, no prompt",
            Scheduler { budget: 8, reserved: 3 },
            many.to_vec(),
            8,
        ),
        (
            "as many decoding requests as rows",
            Scheduler { budget: 9, reserved: 3 },
            many.to_vec(),
            9,
        ),
        ("three reserved, a long prompt", Scheduler { budget: 8, reserved: 3 }, beside(100), 5),
        (
            "three reserved, two prompt tokens left",
            Scheduler { budget: 8, reserved: 3 },
            beside(2),
            6,
        ),
        (
            "three reserved, three prompts of a token each",
            Scheduler { budget: 8, reserved: 3 },
            [&many[..], &[prompt(1), prompt(1), prompt(1)]].concat(),
            5,
        ),
        (
            "three reserved, enough rows for all",
            Scheduler { budget: 20, reserved: 3 },
            beside(100),
            9,
        ),
    ];
    for (why, scheduler, loads, expected) in cases {
        let call = format!("{why}: {scheduler:?}.decoding_rows({loads:?})");
        let found = check::assert_accepts(&call, || scheduler.decoding_rows(&loads));
        check::assert_answer(&call, &found, &expected);
    }
}

#[test]
fn task_1_share_prompts_serves_oldest_first() {
    let d = decoding(0);
    let cases: [Shares<'_>; 8] = [
        ("one prompt, rows for part of it", &[prompt(10)], 4, &[0], &[4]),
        ("one prompt, more rows than tokens", &[prompt(3)], 8, &[0], &[3]),
        ("the second gets the remaining rows", &[prompt(3), prompt(10)], 8, &[0, 0], &[3, 5]),
        ("the first takes all rows", &[prompt(9), prompt(2)], 8, &[0, 0], &[8, 0]),
        ("three prompts", &[prompt(2), prompt(3), prompt(4)], 7, &[0, 0, 0], &[2, 3, 2]),
        (
            "shares of decoding requests must not change",
            &[d, prompt(5), d, prompt(5)],
            6,
            &[1, 0, 0, 0],
            &[1, 5, 0, 1],
        ),
        ("no rows", &[prompt(5), d], 0, &[0, 1], &[0, 1]),
        ("no requests", &[], 5, &[], &[]),
    ];
    for (why, loads, rows, before, expected) in cases {
        let call = format!("{why}: share_prompts({loads:?}, {rows}, {before:?})");
        let mut out = before.to_vec();
        check::assert_accepts(&call, || share_prompts(loads, rows, &mut out));
        check::assert_answer(&call, &out, &expected.to_vec());
    }
}

/// With any loads, the rows stay within the budget. None is left while a request could use it.
#[test]
fn task_1_rows_neither_exceed_nor_waste_the_budget() {
    let mut below = below(1);
    for round in 0..2000 {
        let scheduler = Scheduler::new(2 + below(40));
        let loads: Vec<_> = (0..below(12))
            .map(|_| if below(2) == 0 { decoding(0) } else { prompt(1 + below(20)) })
            .collect();
        let what = format!("round {round}: {scheduler:?} with {loads:?}");
        let decoding = scheduler.decoding_rows(&loads);
        let mut out = vec![0; loads.len()];
        check::assert_accepts(&what, || {
            share_prompts(&loads, scheduler.budget - decoding, &mut out);
        });
        let rows = decoding + out.iter().sum::<usize>();
        let usable: usize = loads.iter().map(|load| load.left).sum();
        check::assert_answer(
            &format!(
                "{what}: {decoding} rows for decoding requests, {out:?} for prompts; total number \
                 of rows"
            ),
            &rows,
            &usable.min(scheduler.budget),
        );
    }
}

// Task 2

#[test]
fn task_2_take_turns_serves_longest_waiting_first() {
    let d = decoding;
    // In the engine, each has one token left. The order of turns does not depend on this number.
    let many = |waited, left| Load { left, ..decoding(waited) };
    let cases: [Shares<'_>; 10] = [
        ("rows for all", &[d(0), d(0), d(0)], 3, &[0, 0, 0], &[1, 1, 1]),
        ("more rows than requests", &[d(0), d(0)], 5, &[0, 0], &[1, 1]),
        (
            "the oldest, if all have waited equally long",
            &[d(2), d(2), d(2)],
            2,
            &[0; 3],
            &[1, 1, 0],
        ),
        ("the one that has waited", &[d(0), d(0), d(1)], 1, &[0; 3], &[0, 0, 1]),
        ("the two that have waited longest", &[d(1), d(4), d(2), d(3)], 2, &[0; 4], &[0, 1, 0, 1]),
        ("prompts get no turn", &[prompt(5), d(0), prompt(5)], 3, &[0; 3], &[0, 1, 0]),
        ("shares of prompts must not change", &[prompt(9), d(0), d(1)], 1, &[7, 0, 0], &[7, 0, 1]),
        ("no rows", &[d(3), d(4)], 0, &[0, 0], &[0, 0]),
        (
            "the oldest, whatever `left` is",
            &[many(1, 1), many(1, 3), many(1, 2)],
            1,
            &[0; 3],
            &[1, 0, 0],
        ),
        (
            "the one that has waited, whatever `left` is",
            &[many(0, 9), many(2, 1)],
            1,
            &[0; 2],
            &[0, 1],
        ),
    ];
    for (why, loads, rows, before, expected) in cases {
        let call = format!("{why}: take_turns({loads:?}, {rows}, {before:?})");
        let mut out = before.to_vec();
        check::assert_accepts(&call, || take_turns(loads, rows, &mut out));
        check::assert_answer(&call, &out, &expected.to_vec());
    }
}

/// `n` requests share `rows` rows a step. Each gets a row at least every `⌈n / rows⌉` steps.
#[test]
fn task_2_take_turns_is_starvation_free() {
    for n in 1..=9 {
        for rows in 1..=n {
            let (mut loads, most) = (vec![decoding(0); n], n.div_ceil(rows));
            let mut served = vec![0; n];
            for step in 0..60 {
                let mut out = vec![0; n];
                take_turns(&loads, rows, &mut out);
                check::assert_answer(
                    &format!(
                        "{n} decoding requests, {rows} rows a step: rows given in step {step}"
                    ),
                    &out.iter().sum::<usize>(),
                    &rows,
                );
                for (i, load) in loads.iter_mut().enumerate() {
                    served[i] += out[i];
                    load.waited = if out[i] == 0 { load.waited + 1 } else { 0 };
                    assert!(
                        load.waited < most,
                        "{n} decoding requests, {rows} rows a step: after step {step}, request {i} \
                         has waited {} steps. Each must get a row at least every {most} steps \
                         (rows so far: {served:?})",
                        load.waited
                    );
                }
            }
        }
    }
}

/// With many decoding requests and a stream of prompts, each request gets its guaranteed rows.
#[test]
fn task_2_shares_with_random_loads() {
    let places = 16;
    for seed in 0..60 {
        let mut below = below(seed);
        let scheduler = Scheduler::new(2 + below(20));
        let Scheduler { budget, reserved } = scheduler;
        let mut loads: Vec<Load> = Vec::new();
        let mut out = Vec::new();
        for step in 0..200 {
            if loads.len() < places && below(2) == 0 {
                loads.push(prompt(1 + below(60)));
            }
            let what = format!("seed {seed}, step {step}: {scheduler:?} with {loads:?}");
            check::assert_accepts(&what, || scheduler.shares(&loads, &mut out));
            let usable: usize = loads.iter().map(|load| load.left).sum();
            check::assert_answer(
                &format!("{what}: total rows of the shares {out:?}"),
                &out.iter().sum::<usize>(),
                &usable.min(budget),
            );
            if let Some(oldest) = loads.iter().position(|load| !load.decoding) {
                let least = reserved.min(loads[oldest].left);
                assert!(
                    out[oldest] >= least,
                    "{what}: the oldest prompt gets {} rows (shares {out:?}), but {least} are \
                     reserved for it",
                    out[oldest]
                );
            }
            let most = places.div_ceil(budget - reserved);
            for (load, &rows) in loads.iter_mut().zip(&out) {
                assert!(
                    rows <= load.left,
                    "{what}: {rows} rows for {load:?}, expected at most the tokens that this \
                     request has left"
                );
                load.waited = if rows == 0 { load.waited + 1 } else { 0 };
                load.left -= rows;
                if load.left == 0 {
                    // The prompt is computed, or there is a new token. Either way, the next row
                    // decodes.
                    (load.decoding, load.left) = (true, 1);
                }
                assert!(
                    !load.decoding || load.waited < most,
                    "{what}: {load:?} has had no row for {} steps; with {places} slots, the wait \
                     must be shorter than {most} steps",
                    load.waited
                );
            }
            if below(4) == 0 && !loads.is_empty() {
                loads.remove(below(loads.len()));
            }
        }
    }
}

// Task 3

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day2.rs"]
mod fresh;

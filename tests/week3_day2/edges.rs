//! Week 3, day 2: shares, turns and quantiles, compared with their definitions in many cases, and
//! with very large numbers.

use tiny_llm::week3::{
    scheduler::{Load, Scheduler, share_prompts, take_turns},
    timeline::{Moment, Record, quantile},
};
use tiny_llm_harness::check::assert_accepts;

use super::below;

fn loads(below: &mut impl FnMut(usize) -> usize) -> Vec<Load> {
    let n = below(9);
    (0..n)
        .map(|_| {
            let decoding = below(2) == 0;
            let left = if decoding { 1 } else { 1 + below(12) };
            Load { left, decoding, waited: below(4) }
        })
        .collect()
}

#[test]
fn task_1_decoding_rows_and_share_prompts_with_random_loads() {
    let mut below = below(21);
    for _ in 0..4000 {
        let budget = 1 + below(12);
        let scheduler = Scheduler { budget, reserved: below(budget + 1) };
        let loads = loads(&mut below);
        let decoding = loads.iter().filter(|load| load.decoding).count();
        let prompts: usize = loads.iter().filter(|load| !load.decoding).map(|l| l.left).sum();
        // The prompts keep the reserved rows, or fewer if they can't use as many.
        let kept = prompts.min(scheduler.reserved);
        let expected = (0..=decoding).rev().find(|n| n + kept <= budget).unwrap_or(0);
        let what = format!("{scheduler:?}.decoding_rows({loads:?})");
        let found = assert_accepts(&what, || scheduler.decoding_rows(&loads));
        assert!(found == expected, "{what}: found {found}, expected {expected}");

        let rows = below(30);
        let mut shares: Vec<usize> =
            loads.iter().map(|load| if load.decoding { below(3) } else { 0 }).collect();
        let before = shares.clone();
        let what = format!("share_prompts({loads:?}, {rows}, {before:?})");
        assert_accepts(&what, || share_prompts(&loads, rows, &mut shares));
        let mut asked = 0;
        let expected: Vec<usize> = loads
            .iter()
            .zip(&before)
            .map(|(load, &before)| {
                if load.decoding {
                    return before;
                }
                asked += load.left;
                // The rows that older prompts leave, as far as this prompt can use them.
                rows.min(asked) - rows.min(asked - load.left)
            })
            .collect();
        assert!(shares == expected, "{what}: found {shares:?}, expected {expected:?}");
    }
}

#[test]
fn task_2_take_turns_with_random_loads() {
    let mut below = below(22);
    for round in 0..4000 {
        let mut loads = loads(&mut below);
        if round % 5 == 0 {
            loads.iter_mut().for_each(|load| load.waited = usize::MAX - load.waited);
        }
        // Not `usize::MAX`, so that a loop that goes on after the last request ends, too.
        let rows = if round % 7 == 0 { 10_000 } else { below(8) };
        let before: Vec<usize> =
            loads.iter().map(|load| if load.decoding { 0 } else { below(5) }).collect();
        let mut found = before.clone();
        let what = format!("take_turns({loads:?}, {rows}, {before:?})");
        assert_accepts(&what, || take_turns(&loads, rows, &mut found));
        let goes_before = |i: usize, j: usize| {
            loads[j].decoding
                && (loads[j].waited > loads[i].waited
                    || loads[j].waited == loads[i].waited && j < i)
        };
        let expected: Vec<usize> = (0..loads.len())
            .map(|i| {
                let others = (0..loads.len()).filter(|&j| goes_before(i, j)).count();
                if loads[i].decoding { usize::from(others < rows) } else { before[i] }
            })
            .collect();
        assert!(
            found == expected,
            "{what}: found {found:?}, expected {expected:?}. Give one row each to the requests \
             that have waited longest, and among equals to the oldest first"
        );
    }
}

#[test]
fn task_3_record_with_random_token_times() {
    let mut below = below(23);
    for _ in 0..500 {
        let mut now = Moment { steps: below(5) as u64, rows: 1 << (below(60) as u64) };
        let came = now;
        let mut record = Record::new(came);
        let mut times: Vec<Moment> = Vec::new();
        for _ in 0..below(7) {
            now.steps += below(3) as u64;
            now.rows += below(40) as u64;
            assert_accepts(&format!("a token at {now:?}, after {times:?}"), || record.token(now));
            times.push(now);
        }
        let what = format!("a request submitted at {came:?}, with tokens at {times:?}");
        let gaps = || {
            times
                .windows(2)
                .map(|pair| (pair[1].steps - pair[0].steps, pair[1].rows - pair[0].rows))
        };
        let longest = Moment {
            steps: gaps().map(|gap| gap.0).max().unwrap_or(0),
            rows: gaps().map(|gap| gap.1).max().unwrap_or(0),
        };
        assert_eq!(record.longest_gap, longest, "{what}: the longest gap, in steps and in rows");
        let first = times
            .first()
            .map(|first| Moment { steps: first.steps - came.steps, rows: first.rows - came.rows });
        assert_eq!(record.time_to_first_token(), first, "{what}: time to first token");
        assert_eq!(
            (record.submitted, record.first_token, record.last_token),
            (came, times.first().copied(), times.last().copied()),
            "{what}: (submitted, first token, last token)"
        );
    }
}

#[test]
fn task_3_quantile_with_random_values() {
    let mut below = below(24);
    for _ in 0..3000 {
        let n = 1 + below(70);
        // Small numbers, and large ones that f64 cannot tell apart. Some occur several times.
        let base = [0, 1 << 53, u64::MAX - 9][below(3)];
        let values: Vec<u64> = (0..n).map(|_| base + below(9) as u64).collect();
        // A share that is exact in binary, and stays exact when it is multiplied.
        let q = below(65) as f64 / 64.0;
        let what = format!("quantile({values:?}, {q})");
        let found = assert_accepts(&what, || quantile(&mut values.clone(), q));
        let up_to = |value: u64| values.iter().filter(|&&other| other <= value).count();
        let enough = |value: &u64| up_to(*value) as f64 >= q * n as f64;
        let expected = values.iter().copied().filter(enough).min();
        assert!(found == expected, "{what}: found {found:?}, expected {expected:?}");
    }
}

//! Week 3, day 2, on fresh inputs.

use tiny_llm::week3::{
    scheduler::{Load, Scheduler, share_prompts, take_turns},
    timeline::{Moment, Record, quantile},
};
use tiny_llm_harness::fresh::Fresh;

/// Returns the loads of 3 to 14 random requests.
fn loads(fresh: &Fresh) -> Vec<Load> {
    (0..fresh.from_to(3, 14))
        .map(|_| {
            let decoding = fresh.below(2) == 0;
            let left = if decoding { 1 } else { fresh.from_to(1, 12) };
            Load { left, decoding, waited: fresh.below(4) }
        })
        .collect()
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week3-day2 task 1");
    for _ in 0..12 {
        let (loads, budget) = (loads(&fresh), fresh.from_to(3, 20));
        let scheduler = Scheduler { budget, reserved: fresh.from_to(1, budget - 1) };
        let decoding = scheduler.decoding_rows(&loads);
        let mut out = vec![0; loads.len()];
        share_prompts(&loads, fresh.from_to(1, 20), &mut out);
        fresh.says("rows", &(decoding, out));
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week3-day2 task 2");
    for _ in 0..12 {
        let loads = loads(&fresh);
        let mut out = vec![0; loads.len()];
        take_turns(&loads, fresh.from_to(1, 6), &mut out);
        fresh.says("turns", &out);
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week3-day2 task 3");
    for _ in 0..6 {
        let mut now = Moment { steps: fresh.u64() % 100, rows: 500 + fresh.u64() % 100 };
        let mut record = Record::new(now);
        for _ in 0..fresh.below(6) {
            now.steps += fresh.from_to(1, 9) as u64;
            now.rows += fresh.from_to(1, 99) as u64;
            record.token(now);
        }
        fresh.says("record", &(record, record.time_to_first_token()));
        let mut values: Vec<u64> = (0..fresh.below(30)).map(|_| fresh.u64() % 1000).collect();
        fresh.says("quantile", &quantile(&mut values, fresh.uniform()));
    }
}

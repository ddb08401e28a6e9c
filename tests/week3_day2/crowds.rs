//! Week 3, day 2, task 2: turns of very many requests.

use tiny_llm::week3::scheduler::{Load, take_turns};
use tiny_llm_harness::check::assert_accepts;

use super::below;

/// An unstable sort keeps the order of up to twenty equal elements, but not of more.
#[test]
fn task_2_take_turns_is_stable_with_many_requests() {
    let mut below = below(25);
    for n in [20, 21, 22, 33, 50, 64, 100, 257, 1000] {
        for kinds in [1, 2, 3, 5, n] {
            let loads: Vec<Load> = (0..n)
                .map(|_| {
                    let decoding = below(8) > 0;
                    Load { left: if decoding { 1 } else { 7 }, decoding, waited: below(kinds) }
                })
                .collect();
            let rows = 1 + below(n);
            let mut order: Vec<usize> = (0..n).filter(|&i| loads[i].decoding).collect();
            order.sort_by(|&a, &b| loads[b].waited.cmp(&loads[a].waited).then(a.cmp(&b)));
            let mut expected = vec![0; n];
            order.iter().take(rows).for_each(|&i| expected[i] = 1);
            let mut found = vec![0; n];
            let what = format!("take_turns with {n} requests, {rows} rows, `waited` below {kinds}");
            assert_accepts(&what, || take_turns(&loads, rows, &mut found));
            let wrong = (0..n).find(|&i| found[i] != expected[i]);
            assert!(
                wrong.is_none(),
                "{what}: request {}, {:?}, gets {} rows, expected {}. Give rows to the requests \
                 that have waited longest, and among equals to the oldest first",
                wrong.unwrap_or(0),
                wrong.map(|i| loads[i]),
                found[wrong.unwrap_or(0)],
                expected[wrong.unwrap_or(0)]
            );
        }
    }
}

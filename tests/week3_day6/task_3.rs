//! Week 3, day 6, task 3: how many drafts pay.

use tiny_llm::week3::draft_length::{Costs, DraftLength, PROBE, best_length, expected_tokens};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::check;

use super::{fixtures, same_rate};

#[test]
fn task_3_expected_tokens() {
    let case = fixtures().case("task_3_length/table");
    for row in case.value("expected").as_array().expect("rows") {
        let number = |i: usize| row[i].as_f64().expect("a number");
        let (rate, k, expected) = (number(0), number(1) as usize, number(2));
        let call = format!("expected_tokens({rate}, {k})");
        let found = check::assert_accepts(&call, || expected_tokens(rate, k));
        assert!(
            (found - expected).abs() < 1e-9,
            "{call}\n  found    {found}\n  expected {expected}"
        );
    }
}

#[test]
fn task_3_best_length() {
    let case = fixtures().case("task_3_length/table");
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for row in case.value("best").as_array().expect("rows") {
        let number = |i: usize| row[i].as_f64().expect("a number");
        let costs = Costs { row: number(1), draft: number(2) };
        let call = format!("best_length({}, {costs:?}, {})", number(0), number(3));
        let best =
            check::assert_accepts(&call, || best_length(number(0), costs, number(3) as usize));
        found.push((call.clone(), best));
        expected.push((call, number(4) as usize));
    }
    check::assert_answer("the best numbers of drafts", &found, &expected);
    // Of equally good lengths, the smallest is returned, so a draft without gain is not proposed.
    let free = Costs { row: 0.0, draft: 0.0 };
    check::assert_answer(
        "best_length where no draft is accepted and all are free: the smallest of equally good \
         lengths\n ",
        &best_length(0.0, free, 8),
        &0,
    );
}

#[test]
fn task_3_observe_updates_the_rate() {
    let costs = Costs { row: 0.5, draft: 0.0 };
    let (mut found, mut expected, mut wrong) = (Vec::new(), Vec::new(), String::new());
    for (why, drafted, accepted, rate) in [
        ("all four are accepted", 4, 4, (3.0 * 0.875 + 4.0) / (4.0 * 0.875 + 4.0)),
        ("the first of four is refused", 4, 0, 3.0 * 0.875 / (4.0 * 0.875 + 1.0)),
        ("the third of four is refused", 4, 2, (3.0 * 0.875 + 2.0) / (4.0 * 0.875 + 3.0)),
        ("the last of four is refused", 4, 3, (3.0 * 0.875 + 3.0) / (4.0 * 0.875 + 4.0)),
        ("nothing was drafted", 0, 0, 0.75),
    ] {
        let mut length = DraftLength::new(4, costs);
        let call = format!("{why}: the rate after observe({drafted}, {accepted})");
        check::assert_accepts(&call, || length.observe(drafted, accepted));
        if (length.rate() - rate).abs() >= 1e-6 {
            wrong += &format!("\n  {call}: found {}, expected {rate}", length.rate());
        }
        found.push(length.rate() as f32);
        expected.push(rate as f32);
    }
    // Older counts lose weight only from the second pass on.
    let mut length = DraftLength::new(4, costs);
    let call = "the rate after observe(4, 4), observe(4, 1)";
    check::assert_accepts(call, || {
        length.observe(4, 4);
        length.observe(4, 1);
    });
    let rate = ((3.0 * 0.875 + 4.0) * 0.875 + 1.0) / ((4.0 * 0.875 + 4.0) * 0.875 + 2.0);
    if (length.rate() - rate).abs() >= 1e-6 {
        wrong += &format!("\n  {call}: found {}, expected {rate}", length.rate());
    }
    found.push(length.rate() as f32);
    expected.push(rate as f32);
    // Compares all rates in one answer, because several mistakes agree on some of them.
    let [found, expected] = [found, expected].map(|rates| tensor(&[rates.len()], rates));
    check::assert_close_noting(
        "the rates after one pass and after two",
        &found,
        &expected,
        1e-6,
        &wrong,
    );
}

#[test]
fn task_3_choose_and_observe_pass_by_pass() {
    let case = fixtures().case("task_3_length/lives");
    for life in case.value("lives").as_array().expect("lives") {
        let number = |name: &str| life[name].as_f64().expect("a number");
        let costs = Costs { row: number("row"), draft: number("draft") };
        let max = number("max") as usize;
        let mut length = DraftLength::new(max, costs);
        let mut before = Vec::new();
        for step in life["steps"].as_array().expect("steps") {
            let count = |i: usize| step[i].as_u64().expect("a count") as usize;
            let what =
                format!("at most {max} drafts, {costs:?}, after (drafted, accepted) {before:?}");
            let found = check::assert_accepts(&what, || length.choose());
            assert!(
                found == count(0),
                "{what}: the next number of drafts\n  found    {found}\n  expected {}",
                count(0)
            );
            length.observe(count(1), count(2));
            before.push((count(1), count(2)));
            let rate = step[3].as_f64().expect("a rate");
            same_rate(&format!("{what}, then {:?}: the rate", before.last()), length.rate(), rate);
        }
    }
    assert_eq!(PROBE, 16, "PROBE must be 16, because the expected values were computed for it");
}

/// After a pass with drafts, the passes without drafts are counted from 0 again.
#[test]
fn task_3_choose_restarts_probe_count_after_drafting() {
    // At any rate, a row that costs twice as much as a pass never pays, and a free one always does.
    let (dear, free) = (Costs { row: 2.0, draft: 0.0 }, Costs { row: 1e-9, draft: 0.0 });
    for idle in [1, 9, PROBE - 1] {
        let mut length = DraftLength::new(4, dear);
        let mut found = Vec::new();
        let mut expected = vec![0; idle];
        let call = format!(
            "{idle} passes where no draft pays, one where all do, then 40 where none does: number \
             of drafts in each pass"
        );
        check::assert_accepts(&call, || {
            found.extend((0..idle).map(|_| length.choose()));
            length.costs = free;
            found.push(length.choose());
            length.costs = dear;
            found.extend((0..40).map(|_| length.choose()));
        });
        expected.push(4);
        expected.extend((1..=40).map(|pass: usize| usize::from(pass.is_multiple_of(PROBE))));
        // Without diagnosis: other mistakes give such a list, too.
        assert!(found == expected, "{call}\n  found    {found:?}\n  expected {expected:?}");
    }
    let mut none = DraftLength::new(0, dear);
    let found: Vec<usize> = (0..40).map(|_| none.choose()).collect();
    assert!(
        found == vec![0; 40],
        "40 passes with at most 0 drafts: found {found:?}, expected 0 drafts in each"
    );
}

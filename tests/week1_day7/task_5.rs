//! Week 1, day 7, task 5: repetition penalty.

use tiny_llm::week1::sampling::repetition_penalty;

use super::{check_each, check_hand, check_left, fixtures};

#[test]
fn task_5_penalty_makes_seen_tokens_less_likely() {
    let case = fixtures().case("task_5_penalty/signed");
    let seen = case.ids("seen");
    check_each(&case, "penalty", |logits, penalty| {
        repetition_penalty(logits, &seen, penalty as f32);
    });
}

#[test]
fn task_5_penalty_is_applied_once_per_seen_token() {
    let mut logits = [3.0, -3.0, 3.0, -3.0];
    repetition_penalty(&mut logits, &[1, 0, 1, 1], 2.0);
    let why = "penalty 2, logits 3, −3, 3, −3, seen 1, 0, 1, 1: token 0 must get 3/2 and token 1 \
               −3 · 2 (only once, although it was seen three times); the others stay the same";
    check_hand(why, logits, [1.5, -6.0, 3.0, -3.0]);

    let mut logits = [3.0, -3.0];
    repetition_penalty(&mut logits, &[], 2.0);
    check_hand("penalty 2, logits 3, −3, no token seen: nothing changes", logits, [3.0, -3.0]);
}

#[test]
fn task_5_penalty_applies_to_all_seen_tokens() {
    let seen: Vec<u32> = [2].into_iter().chain([1; 500]).chain([3]).collect();
    let mut logits = [4.0, 4.0, 4.0, 4.0];
    repetition_penalty(&mut logits, &seen, 2.0);
    check_hand(
        "penalty 2, logits 4, 4, 4, 4, seen 2, then 1 five hundred times, then 3: penalise every \
         token that was seen, however long ago",
        logits,
        [4.0, 2.0, 2.0, 2.0],
    );
}

#[test]
fn task_5_penalty_with_large_vocabulary() {
    let mut logits = vec![12.0; 70_000];
    let seen: Vec<u32> = (0..300).map(|i| 69_999 - 4 * i).collect();
    repetition_penalty(&mut logits, &seen, 3.0);
    check_left(
        "penalty 3, 70,000 logits of 12, 300 tokens seen (every fourth from 69,999 down)",
        &logits,
        |i| if i >= 68_803 && (69_999 - i).is_multiple_of(4) { 4.0 } else { 12.0 },
    );
}

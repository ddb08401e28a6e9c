//! Week 1, day 7, task 4: min-p.

use tiny_llm::week1::sampling::min_p;

use super::{OFF, check_each, check_hand, check_left, fixtures};

/// The cases are ordered: later ones check what the first one does not.
#[test]
fn task_4_min_p_is_relative_to_the_most_probable_token() {
    for name in ["unsorted", "shifted", "negative"] {
        check_each(&fixtures().case(&format!("task_4_min_p/{name}")), "p", |logits, p| {
            min_p(logits, p as f32);
        });
    }
}

#[test]
fn task_4_min_p_at_p_0_and_1() {
    let mut tied = [2.0, 1.0, 2.0];
    min_p(&mut tied, 1.0);
    check_hand(
        "min_p with p = 1, logits 2, 1, 2: keep all tokens that are as probable as the most \
         probable one",
        tied,
        [2.0, OFF, 2.0],
    );
    // e^−0.5 = .61 and e^−0.25 = .78.
    let mut near = [1.0, 1.5, 1.25];
    min_p(&mut near, 0.7);
    check_hand(
        "min_p with p = 0.7, logits 1, 1.5, 1.25: the first is 0.61 times as probable as the \
         second, the last 0.78 times",
        near,
        [OFF, 1.5, 1.25],
    );
    let mut masked = [OFF, -3.0, OFF, -3.5];
    min_p(&mut masked, 0.0);
    check_hand(
        "min_p with p = 0 changes nothing, and an excluded token stays excluded",
        masked,
        [OFF, -3.0, OFF, -3.5],
    );
}

#[test]
fn task_4_min_p_with_200_logits_and_small_p() {
    let mut logits: Vec<f32> = (0..200).map(|i| if i == 150 { 5.0 } else { 0.0 }).collect();
    min_p(&mut logits, 0.5);
    let what = "min_p with p = 0.5 and 200 logits, where logit 150 is 5 and the others are 0";
    check_left(what, &logits, |i| if i == 150 { 5.0 } else { OFF });
    // e^−8 = 3.4e-4, e^−10 = 4.5e-5
    let mut logits = [0.0, -10.0, -8.0];
    min_p(&mut logits, 1e-4);
    check_left("min_p with p = 0.0001, logits 0, −10, −8", &logits, |i| [0.0, OFF, -8.0][i]);
}

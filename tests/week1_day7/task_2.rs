//! Week 1, day 7, task 2: top-k.

use tiny_llm::week1::sampling::top_k;

use super::{OFF, alternating, check_each, check_hand, check_left, explained, fixtures, left};

#[test]
fn task_2_top_k_keeps_the_first_of_many_equal_logits() {
    for (k, last) in [(1, 1), (40, 79), (499, 997), (501, 999), (700, 999)] {
        let mut logits = alternating();
        top_k(&mut logits, k);
        let expected: Vec<f32> = alternating()
            .into_iter()
            .enumerate()
            .map(|(i, logit)| {
                let stays = if i % 2 == 1 { i <= last } else { i / 2 + 500 < k };
                if stays { logit } else { OFF }
            })
            .collect();
        check_hand(
            &format!(
                "top_k with k = {k} and 1000 logits 0, 1, 0, 1, …: keep the first of equal logits \
                 (an unstable sort reorders them); the tokens that stay"
            ),
            left(&logits),
            left(&expected),
        );
    }
}

#[test]
fn task_2_top_k_treats_0_and_minus_0_as_equal() {
    for k in 1..4 {
        let mut logits = [-0.0, 0.0, -0.0, 0.0];
        top_k(&mut logits, k);
        check_hand(
            &format!("top_k with k = {k}, logits −0, 0, −0, 0: they are equal, so keep the first"),
            logits.map(|logit| logit > OFF),
            [0, 1, 2, 3].map(|i| i < k),
        );
    }
}

#[test]
fn task_2_top_k_keeps_the_k_largest_in_place() {
    check_each(&fixtures().case("task_2_top_k/unsorted"), "k", |logits, k| {
        top_k(logits, k as usize);
    });
}

#[test]
fn task_2_top_k_keeps_the_first_of_equal_logits() {
    check_each(&fixtures().case("task_2_top_k/ties"), "k", |logits, k| top_k(logits, k as usize));
}

#[test]
fn task_2_top_k_beyond_the_vocabulary_keeps_all() {
    for k in [4, 100, usize::MAX] {
        let mut logits = [0.5, -1.0, 2.0];
        let why = format!("top_k with k = {k} and only 3 logits keeps all of them");
        explained(&why, || top_k(&mut logits, k));
        check_hand(&why, logits, [0.5, -1.0, 2.0]);
    }
}

#[test]
fn task_2_top_k_with_large_k() {
    let mut logits: Vec<f32> = (0..3000).map(|i| i as f32).collect();
    top_k(&mut logits, 2000);
    let what = "top_k with k = 2000, logits 0 to 2999";
    check_left(what, &logits, |i| if i < 1000 { OFF } else { i as f32 });
}

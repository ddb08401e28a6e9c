//! Week 4, day 6, task 1: the router.

use tiny_llm::week4::mixture::route::{Routing, route, top_k};
use tiny_llm_harness::check::{assert_agrees, assert_answer, assert_panics};

use super::{each, flag, numbers};
use tiny_llm_formats::tensor::tensor;

#[test]
pub(crate) fn task_1_route_matches_transformers() {
    each("task_1_route/", |case| {
        let (logits, k) = (case.tensor("logits"), case.count("k"));
        let routing = match case.value("kind").as_str().expect("a name") {
            "gpt_oss" => Routing::TopKFirst,
            _ => Routing::SoftmaxFirst { renormalize: flag(case, "renormalize") },
        };
        let (rows, n) = (logits.shape()[0], logits.shape()[1]);
        let (mut chosen, mut weights) = (vec![99; rows * k], vec![7.0; rows * k]);
        let logits = numbers(&logits);
        let each = chosen.chunks_exact_mut(k).zip(weights.chunks_exact_mut(k));
        for (logits, (chosen, weights)) in logits.chunks_exact(n).zip(each) {
            route(logits, routing, chosen, weights);
        }
        assert_answer(
            &format!("{}: the experts of each token", case.name()),
            &chosen,
            &case.read::<Vec<usize>>("chosen"),
        );
        case.check("weights", &tensor(&[rows, k], weights));
    });
}

#[test]
fn task_1_top_k_prefers_the_lower_index_on_ties() {
    for (logits, expected) in [
        (&[1.0, 3.0, 3.0, 2.0, 3.0][..], &[1, 2, 4, 3][..]),
        (&[0.0; 6], &[0, 1, 2]),
        (&[-1.0, -2.0, -1.0], &[0, 2]),
        (&[f32::NEG_INFINITY, -5.0, f32::NEG_INFINITY], &[1, 0]),
    ] {
        let mut chosen = vec![99; expected.len()];
        top_k(logits, &mut chosen);
        assert_answer(
            &format!("the best experts of {logits:?}, the best first"),
            &chosen,
            &expected.to_vec(),
        );
    }
}

/// With many experts, an unstable sort changes the order of equal logits.
#[test]
fn task_1_top_k_is_stable_for_128_experts() {
    let logits: Vec<f32> = (0..128_u8).map(|expert| f32::from(expert % 3)).collect();
    let mut chosen = vec![99; 40];
    top_k(&logits, &mut chosen);
    assert_answer(
        "the best 40 of 128 experts with logits of 0, 1, 2, 0, 1, 2, …, the best first",
        &chosen,
        &(0..40).map(|i| 3 * i + 2).collect::<Vec<_>>(),
    );
}

#[test]
fn task_1_top_k_treats_zeros_of_either_sign_as_equal() {
    let mut chosen = [99; 3];
    top_k(&[-0.0, 0.0, -1.0], &mut chosen);
    assert_answer("the best experts of [−0, 0, −1], the best first", &chosen, &[0, 1, 2]);
}

#[test]
fn task_1_route_is_shift_invariant() {
    let near = [-1.0, 0.5, -0.25, 0.0];
    for routing in [
        Routing::SoftmaxFirst { renormalize: false },
        Routing::SoftmaxFirst { renormalize: true },
        Routing::TopKFirst,
    ] {
        let weights = |logits: [f32; 4]| {
            let (mut chosen, mut weights) = ([99; 2], [7.0; 2]);
            route(&logits, routing, &mut chosen, &mut weights);
            tensor(&[2], weights.to_vec())
        };
        for far in [-1024.0, 1024.0] {
            assert_agrees(
                &format!("{routing:?}: weights of {near:?} with {far} added to each"),
                &weights(near.map(|logit| logit + far)),
                &weights(near),
                1e-6,
                "adding a constant to all logits must not change the weights",
            );
        }
    }
}

#[test]
fn task_1_top_k_panics_on_k_above_the_expert_count() {
    let mut chosen = [0; 3];
    assert_panics("top_k of 3 experts from 2 logits", || top_k(&[1.0, 2.0], &mut chosen));
}

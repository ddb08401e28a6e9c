//! Week 1, day 6: limits at their edges, and the lengths that an error message names.

use std::ops::ControlFlow;

use tiny_llm::week1::generate::{FinishReason, argmax, generate};
use tiny_llm_harness::{
    check::{assert_accepts, assert_refuses},
    messages::assert_not_exchanged,
};

use super::{limits, written};

#[test]
fn task_1_argmax_edge_cases() {
    let off = f32::NEG_INFINITY;
    let cases: [(&[f32], u32); 9] = [
        (&[f32::MIN, off], 0),
        (&[off, f32::MIN], 1),
        (&[f32::MIN, f32::MAX], 1),
        (&[0.0, f32::from_bits(1)], 1),
        (&[-f32::from_bits(1), -0.0, 0.0], 1),
        (&[off], 0),
        (&[f32::INFINITY, f32::INFINITY], 0),
        (&[16_777_216.0, 16_777_218.0], 1),
        (&[-1.0, -1.0 - f32::EPSILON], 0),
    ];
    for (logits, expected) in cases {
        let found = argmax(logits);
        assert!(
            found == expected,
            "argmax({logits:?}): found {found}, expected {expected}: argmax is the index of the \
             largest logit, and the first of equal ones"
        );
    }
}

#[test]
fn task_2_limits_and_token_ids_at_their_maximum() {
    for (what, limits, reason) in [
        ("max_new_tokens", limits(usize::MAX, 5, &[]), FinishReason::ContextFull),
        ("the context", limits(3, usize::MAX, &[]), FinishReason::Length),
        ("both limits", limits(usize::MAX, usize::MAX, &[]), FinishReason::Stop),
    ] {
        let what = format!("generate where {what} is usize::MAX");
        let found =
            assert_accepts(&what, || written(&[7, 7], &[1, 2, 3, 9], &limits_with_stop(&limits)));
        assert!(
            found == (vec![1, 2, 3], reason),
            "{what}: on_token got {:?}, returned {:?}, expected [1, 2, 3] and {reason:?}",
            found.0,
            found.1
        );
    }
    let largest = limits(4, 10, &[]);
    let found = written(&[u32::MAX, 0], &[0, u32::MAX, 0, u32::MAX], &largest);
    assert!(
        found == (vec![0, u32::MAX, 0, u32::MAX], FinishReason::Length),
        "generate of tokens 0 and 2³² − 1, which must be treated like any other token: on_token \
         got {:?}, returned {:?}, expected [0, 4294967295, 0, 4294967295] and Length",
        found.0,
        found.1
    );
}

fn limits_with_stop(limits: &super::Limits) -> super::Limits {
    super::Limits { stop_tokens: [9, u32::MAX].into(), ..limits.clone() }
}

/// Returns the error message for a prompt of `prompt` tokens in a context of `context` tokens.
fn refused(prompt: usize, context: usize) -> String {
    let what = format!("generate with a prompt of {prompt} tokens in a context of {context}");
    let found = assert_refuses(&what, || {
        generate(
            |_| panic!("{what}: the model must not run"),
            &vec![1; prompt],
            &limits(1, context, &[]),
            |_, _| 0,
            |_| ControlFlow::Continue(()),
        )
    });
    match found {
        Ok(reason) => panic!("{what}: returned {reason:?}, expected an error"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn task_2_error_names_prompt_and_context_lengths() {
    for (prompt, context) in [(5, 3), (13, 12), (300, 30), (1, 0), (9, 8)] {
        let message = refused(prompt, context);
        let what = format!("a prompt of {prompt} tokens in a context of {context}");
        for length in [prompt, context] {
            let mut numbers = message.split(|c: char| !c.is_ascii_digit());
            assert!(
                numbers.any(|number| number == length.to_string()),
                "{what}: the message must name both lengths, but {length} is missing: {message:?}"
            );
        }
        assert_not_exchanged(&what, &message, [("prompt", prompt), ("context", context)]);
    }
    for (context, what) in [(0, "a context of 0"), (5, "a context of 5")] {
        assert!(
            !refused(0, context).is_empty(),
            "generate with an empty prompt in {what}: the error has an empty message, expected one \
             that says what is wrong"
        );
    }
}

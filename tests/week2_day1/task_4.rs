//! Week 2, day 1, task 4: each position once.

#[path = "task_4_generate.rs"]
pub(super) mod generate;

use std::{cell::RefCell, collections::HashSet, ops::ControlFlow, path::Path, sync::Arc};

use tiny_llm::{
    week1::{
        generate::{FinishReason, Limits, argmax, next_token_logits},
        weights::load_model,
    },
    week2::{
        cache::{CacheType, KvCache},
        generate::Session,
        load,
        matrix::Matrix,
        rope::RopeLayout,
    },
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    check::{self, Part, resting_on},
    fixtures::{Case, random},
};

use super::{
    ATTENTION, CACHE, at, check_whole, fixtures, model, plan, splits,
    task_3::task_3_one_token_at_a_time,
};

const MODEL: &Part =
    &Part { task: "week2-day1 task 3", what: "the model over rows", check: check_models };

fn check_models() {
    ["llama", "qwen2", "qwen3"].into_iter().for_each(check_whole);
    task_3_one_token_at_a_time();
}

pub(super) fn session(case: &Case, context: usize) -> Session {
    Session::new(
        Arc::new(model(case, RopeLayout::HalfSplit)),
        Arc::new(plan()),
        context,
        CacheType::F32,
    )
}

/// Feeds tokens, and compares the returned logits `[V]` with row `position` of the case's `output`.
#[track_caller]
pub(super) fn feed(
    session: &mut Session,
    tokens: &[u32],
    chunk: usize,
    case: &Case,
    output: &str,
    position: usize,
    how: &str,
) {
    let found = session
        .feed(tokens, chunk)
        .unwrap_or_else(|error| panic!("{how}: feed must accept this, but it returned: {error}"))
        .to_vec();
    assert_eq!(
        found.len(),
        session.model.config.vocab_size,
        "{how}: feed must return the logits of the last token only, but their number is wrong"
    );
    let what = format!("{}/{output}, position {position}", case.name());
    let found = tensor(&[found.len()], found);
    let more = format!("\n  run as   {how}");
    let expected = at(&case.tensor(output), position);
    resting_on(&[CACHE, ATTENTION, MODEL], || {
        check::assert_close_noting(&what, &found, &expected, case.tolerance(output), &more);
    });
}

#[test]
fn task_4_feed_with_every_chunk_size() {
    for family in ["llama", "qwen2", "qwen3"] {
        let case = fixtures().case(&format!("task_3_model/{family}"));
        let tokens = case.ids("a");
        for chunk in [64, 8, 5, 7, 6, 4, 3, 2, 1, 0] {
            let mut session = session(&case, 8);
            feed(
                &mut session,
                &tokens,
                chunk,
                &case,
                "logits_a",
                7,
                &format!("eight tokens at once, in chunks of at most {chunk}"),
            );
            let found = (session.cache().len(0), session.cache().computed());
            assert_eq!(
                found,
                (8, 8),
                "eight tokens in chunks of {chunk}: (positions in the cache, computed positions)"
            );
            let what = format!("the session's tokens after feeding eight in chunks of {chunk}");
            check::assert_answer(&what, &session.tokens().to_vec(), &tokens);
        }
    }
}

#[test]
fn task_4_feed_with_every_prompt_split() {
    let case = fixtures().case("task_3_model/llama");
    let tokens = case.ids("a");
    let (model, plan) = (Arc::new(model(&case, RopeLayout::HalfSplit)), Arc::new(plan()));
    for parts in splits() {
        let (mut session, mut start) =
            (Session::new(Arc::clone(&model), Arc::clone(&plan), 8, CacheType::F32), 0);
        for len in &parts {
            let how = format!("calls of feed with {parts:?} tokens, in chunks of at most 3");
            feed(
                &mut session,
                &tokens[start..start + len],
                3,
                &case,
                "logits_a",
                start + len - 1,
                &how,
            );
            start += len;
        }
        assert_eq!(
            session.cache().computed(),
            8,
            "eight tokens in calls of feed with {parts:?} tokens: number of computed positions"
        );
    }
}

#[test]
fn task_4_feed_after_keep_prefix() {
    let case = fixtures().case("task_3_model/llama");
    let (a, b) = (case.ids("a"), case.ids("b"));
    let mut session = session(&case, 8);
    feed(&mut session, &a, 64, &case, "logits_a", 7, "the tokens a");
    assert_eq!(session.tokens(), a, "the session's tokens after feeding eight");
    session.keep_prefix(&b);
    assert_eq!(
        session.tokens(),
        &a[..4],
        "the session's tokens after keep_prefix(b), where a and b share the first four"
    );
    assert_eq!(&a[..4], &b[..4], "the oracle's two texts begin with the same tokens");
    feed(
        &mut session,
        &b[4..],
        64,
        &case,
        "logits_b",
        5,
        "a, truncated to its first four tokens, then the rest of b",
    );
    assert_eq!(
        session.cache().computed(),
        10,
        "number of computed positions after eight tokens of a and two of b were fed"
    );
}

#[test]
fn task_4_feed_works_after_an_error() {
    let case = fixtures().case("task_3_model/qwen3");
    let tokens = case.ids("a");
    let refused = |session: &mut Session, tokens: &[u32]| {
        let call = format!("feed({tokens:?}) with a vocabulary of 37 and a context of 8");
        match check::assert_refuses(&call, || {
            session.feed(tokens, 2).map(|_| ()).map_err(|error| error.to_string())
        }) {
            Ok(()) => panic!("{call}: returned no error, but this must be an error"),
            Err(error) => error,
        }
    };
    let mut session = session(&case, 8);
    let error = refused(&mut session, &[]);
    assert!(
        error.contains("no tokens"),
        "feed([]): the error must say \"no tokens\", but it is {error:?}"
    );
    let error = refused(&mut session, &[tokens[0], tokens[1], tokens[2], tokens[3], 37]);
    assert!(
        error.contains("37") && error.contains("36"),
        "feed of token 37 with a vocabulary of 37: the error must name 37 and the last valid \
         token, 36, but it is {error:?}"
    );
    assert_eq!(
        (session.cache().len(0), session.tokens()),
        (4, &tokens[..4]),
        "feed in chunks of two, with an invalid token in the third chunk: (positions in the cache, \
         the session's tokens), which must end before that chunk"
    );
    feed(
        &mut session,
        &tokens[4..],
        64,
        &case,
        "logits_a",
        7,
        "four tokens and an invalid one, then four more",
    );
    let error = refused(&mut session, &[1]);
    assert!(
        error.contains('8'),
        "feed of a ninth token in a context of 8: the error must name the context, 8, but it is \
         {error:?}"
    );
    assert_eq!(
        (session.cache().len(0), session.tokens()),
        (8, &tokens[..]),
        "after a ninth token was refused: (positions in the cache, the session's tokens)"
    );
}

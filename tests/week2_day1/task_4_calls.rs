//! Week 2, day 1, task 4: calls that must fail, and the calls after them.

use std::{ops::ControlFlow, sync::Arc};

use tiny_llm::week2::{
    cache::{CacheType, KvCache},
    generate::Session,
    rope::RopeLayout,
};
use tiny_llm_harness::{check, messages::assert_not_exchanged};

use super::{
    fixtures, model, plan,
    task_4::{feed, generate::limits, session},
};

/// With any chunk size, the sequence ends before the chunk with the invalid token.
#[test]
fn task_4_feed_keeps_chunks_before_an_invalid_token() {
    let case = fixtures().case("task_3_model/llama");
    let a = case.ids("a");
    for (chunk, good, kept) in
        [(0, 2, 2), (1, 3, 3), (2, 3, 2), (2, 4, 4), (3, 5, 3), (64, 5, 0), (usize::MAX, 5, 0)]
    {
        let mut session = session(&case, 8);
        let call = format!(
            "feed of {good} valid tokens and one outside the vocabulary, in chunks of at most \
             {chunk}"
        );
        let given = [&a[..good], &[37]].concat();
        let refused = check::assert_refuses(&call, || session.feed(&given, chunk).is_err());
        assert!(refused, "{call}: returned no error, but this must be an error");
        let found = (session.tokens().to_vec(), session.cache().len(0));
        assert_eq!(
            found,
            (a[..kept].to_vec(), kept),
            "{call}: (the session's tokens, positions in its cache)\n  a chunk of 0 counts as 1; \
             the sequence must end before the refused chunk, and `tokens()` must list the tokens \
             in the cache"
        );
        let how = format!("{call}, then the remaining valid tokens");
        feed(&mut session, &a[kept..], chunk, &case, "logits_a", 7, &how);
    }
}

#[test]
fn task_4_feed_keeps_chunks_before_one_that_does_not_fit() {
    let case = fixtures().case("task_3_model/llama");
    let a = case.ids("a");
    let mut session = session(&case, 8);
    let given = [&a[..], &a[..2]].concat();
    let call = "feed of ten tokens in a context of 8, in chunks of three";
    let refused = check::assert_refuses(call, || session.feed(&given, 3).is_err());
    assert!(refused, "{call}: returned no error, but this must be an error");
    let found = (session.tokens().to_vec(), session.cache().len(0));
    assert_eq!(
        found,
        (a[..6].to_vec(), 6),
        "{call}: (the session's tokens, positions in its cache)"
    );
    feed(
        &mut session,
        &a[6..],
        3,
        &case,
        "logits_a",
        7,
        "the last two tokens that fit, after a refused call",
    );
}

#[test]
fn task_4_generate_rejects_invalid_prompts() {
    let case = fixtures().case("task_3_model/llama");
    let a = case.ids("a");
    let long = [&a[..], &a[..1]].concat();
    let prompts: [(&str, &[u32]); 4] = [
        ("its last token is 37, with a vocabulary of 37", &[a[0], a[1], 37]),
        ("its first token is 37, with a vocabulary of 37", &[37, a[1]]),
        ("it contains token 2³² − 1", &[a[0], u32::MAX, a[1]]),
        ("it has nine tokens, but the session has room for eight", &long),
    ];
    for (name, prompt) in prompts {
        let mut session = session(&case, 8);
        let call = format!("generate with the prompt {prompt:?} ({name})");
        let refused = check::assert_refuses(&call, || {
            let go_on = |_| ControlFlow::Continue(());
            session.generate(prompt, 2, &limits(4, 64), |_, _| 0, go_on).is_err()
        });
        assert!(refused, "{call}: returned no error, but this must be an error");
        assert_eq!(
            session.tokens().len(),
            session.cache().len(0),
            "{call}: afterwards, the session must have as many tokens as its cache has positions"
        );
        // The session still works.
        session.keep_prefix(&a);
        let kept = session.tokens().len();
        feed(&mut session, &a[kept..], 3, &case, "logits_a", 7, "after a refused prompt");
    }
}

/// Two sessions with the same model, fed in turn.
#[test]
fn task_4_sessions_are_independent() {
    let case = fixtures().case("task_3_model/llama");
    let (a, b) = (case.ids("a"), case.ids("b"));
    let (model, plan) = (Arc::new(model(&case, RopeLayout::HalfSplit)), Arc::new(plan()));
    let [mut first, mut second] = [8, 16].map(|context| {
        Session::new(Arc::clone(&model), Arc::clone(&plan), context, CacheType::F32)
    });
    for (start, end) in [(0, 1), (1, 4), (4, 6)] {
        let last = end - 1;
        feed(&mut first, &a[start..end], 2, &case, "logits_a", last, "the first of two sessions");
        feed(
            &mut second,
            &b[start..end],
            64,
            &case,
            "logits_b",
            last,
            "the second of two sessions",
        );
    }
    feed(
        &mut first,
        &a[6..],
        2,
        &case,
        "logits_a",
        7,
        "the first session, after the second has ended",
    );
    let found = (first.tokens().to_vec(), second.tokens().to_vec());
    assert_eq!(found, (a, b), "tokens of two sessions with the same model, fed in turn");
}

/// Even if nothing is computed, the sequence keeps only the prefix that it shares with the prompt.
#[test]
fn task_4_generate_keeps_only_the_shared_prefix() {
    let case = fixtures().case("task_3_model/llama");
    let (a, b) = (case.ids("a"), case.ids("b"));
    for (name, prompt, limits, kept) in [
        ("no new token is allowed", &b[..], limits(0, 64), 4),
        ("the prompt fills the context", &b[..], limits(3, b.len()), 4),
        (
            "the prompt is the session's tokens, and its last token must be computed again for its \
             logits",
            &a[..6],
            limits(0, 64),
            5,
        ),
        ("the prompt is shorter", &a[..3], limits(0, 64), 2),
        ("the prompt has a different first token", &[b[5], a[1]], limits(0, 64), 0),
    ] {
        let mut session = session(&case, 16);
        feed(&mut session, &a[..6], 64, &case, "logits_a", 5, "six tokens");
        let go_on = |_| ControlFlow::Continue(());
        session
            .generate(prompt, 64, &limits, |_, _| 0, go_on)
            .expect("generate must accept this prompt");
        let found = (session.tokens().to_vec(), session.cache().len(0));
        assert_eq!(
            found,
            (a[..kept].to_vec(), kept),
            "a session with tokens {:?} and generate with the prompt {prompt:?}, where {name}: \
             (the session's tokens afterwards, positions in its cache)",
            &a[..6]
        );
    }
}

#[test]
fn task_4_generate_error_names_the_lengths() {
    let case = fixtures().case("task_3_model/llama");
    let mut session = session(&case, 16);
    for (length, context) in [(5, 4), (9, 3), (13, 12), (1, 0)] {
        let prompt = vec![1; length];
        let call = format!("generate with a prompt of {length} tokens in a context of {context}");
        let go_on = |_| ControlFlow::Continue(());
        let found = check::assert_refuses(&call, || {
            session.generate(&prompt, 4, &limits(2, context), |_, _| 0, go_on)
        });
        let Err(error) = found else {
            panic!("{call}: returned no error, but this must be an error")
        };
        let error = error.to_string();
        assert!(
            [length, context].iter().all(|number| error.contains(&number.to_string())),
            "{call}: the error must name both numbers, but it is {error:?}"
        );
        assert_not_exchanged(&call, &error, [("prompt", length), ("context", context)]);
    }
}

//! Generating with a cache.

use super::*;

/// The outcome of a generation.
#[derive(Debug, PartialEq)]
struct Generated {
    tokens: Vec<u32>,
    reason: FinishReason,
    /// Number of positions that the session has computed in total.
    computed: usize,
}

pub(crate) fn limits(max_new_tokens: usize, context: usize) -> Limits {
    Limits { max_new_tokens, context, stop_tokens: HashSet::new() }
}

/// Generates greedily, and checks the arguments of `choose`. `on_token` ends the generation after
/// `end_after` tokens.
fn generate(
    case: &Case,
    session: &mut Session,
    prompt: &[u32],
    chunk: usize,
    limits: &Limits,
    end_after: usize,
) -> Generated {
    let (made, logits) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let choose = |scores: &[f32], seen: &[u32]| {
        assert_eq!(
            seen,
            [prompt, &made.borrow()].concat(),
            "generate must pass the prompt and all new tokens to `choose`"
        );
        logits.borrow_mut().push(scores.to_vec());
        argmax(scores)
    };
    let on_token = |token| {
        made.borrow_mut().push(token);
        if made.borrow().len() == end_after {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let reason = session.generate(prompt, chunk, limits, choose, on_token);
    let reason = reason.unwrap_or_else(|error| {
        panic!("generate must accept a prompt of {} tokens, but it returned: {error}", prompt.len())
    });
    let expected = case.tensor("logits_new");
    for (i, found) in logits.borrow().iter().enumerate() {
        let enough = expected.shape()[0];
        assert!(
            i < enough,
            "generate must not call `choose` again after {enough} new tokens: {limits:?}"
        );
        let what = format!("{}/logits_new, new token {i}", case.name());
        let more = format!(
            "\n  run as   a prompt of {} tokens in chunks of {chunk}; these logits choose new \
             token {i}",
            prompt.len()
        );
        check::assert_close_noting(
            &what,
            &tensor(&[found.len()], found.clone()),
            &at(&expected, i),
            case.tolerance("logits_new"),
            &more,
        );
    }
    Generated { tokens: made.into_inner(), reason, computed: session.cache().computed() }
}

#[test]
fn task_4_generate_returns_expected_greedy_tokens() {
    for family in ["llama", "qwen2", "qwen3"] {
        let case = fixtures().case(&format!("task_3_model/{family}"));
        for chunk in [64, 3, 1] {
            let mut session = session(&case, 64);
            let found =
                generate(&case, &mut session, &case.ids("a"), chunk, &limits(6, 16), usize::MAX);
            let expected = Generated {
                tokens: case.read("greedy"),
                reason: FinishReason::Length,
                computed: 8 + 5,
            };
            assert_eq!(
                found, expected,
                "generate with a prompt of eight tokens and max_new_tokens 6: don't feed the sixth \
                 new token, so only 13 positions are computed"
            );
        }
    }
}

#[test]
fn task_4_generate_limits_and_stop_tokens() {
    let case = fixtures().case("task_3_model/llama");
    let (prompt, greedy): (_, Vec<u32>) = (case.ids("a"), case.read("greedy"));
    let third = greedy[2];
    assert!(!greedy[..2].contains(&third), "the oracle's third token differs from the first two");
    let stop =
        |tokens: &[u32]| Limits { stop_tokens: tokens.iter().copied().collect(), ..limits(6, 16) };
    for (name, limits, end_after, new, reason, computed) in [
        ("no new token is allowed", limits(0, 16), usize::MAX, 0, FinishReason::Length, 0),
        ("the prompt fills the context", limits(6, 8), usize::MAX, 0, FinishReason::ContextFull, 0),
        ("both limits are reached at once", limits(0, 8), usize::MAX, 0, FinishReason::Length, 0),
        (
            "the context has room for two new tokens",
            limits(6, 10),
            usize::MAX,
            2,
            FinishReason::ContextFull,
            9,
        ),
        (
            "the third token is a stop token",
            stop(&[third, 36]),
            usize::MAX,
            2,
            FinishReason::Stop,
            10,
        ),
        (
            "`on_token` returns Break at the third token",
            limits(6, 16),
            3,
            3,
            FinishReason::Interrupted,
            10,
        ),
        (
            "max_new_tokens is usize::MAX, so only the context is a limit",
            limits(usize::MAX, 10),
            usize::MAX,
            2,
            FinishReason::ContextFull,
            9,
        ),
        (
            "the context is usize::MAX",
            limits(2, usize::MAX),
            usize::MAX,
            2,
            FinishReason::Length,
            9,
        ),
    ] {
        let found = check::assert_accepts(name, || {
            generate(&case, &mut session(&case, 64), &prompt, 64, &limits, end_after)
        });
        let expected = Generated { tokens: greedy[..new].to_vec(), reason, computed };
        assert_eq!(
            found, expected,
            "generate where {name}: new tokens, reason to end, and number of computed positions"
        );
    }
}

#[test]
fn task_4_generate_without_stop_tokens() {
    let case = fixtures().case("task_3_model/llama");
    let made = RefCell::new(Vec::new());
    let on_token = |token| {
        made.borrow_mut().push(token);
        ControlFlow::Continue(())
    };
    let reason = session(&case, 16)
        .generate(&[1, 2], 64, &limits(3, 16), |_, _| 0, on_token)
        .expect("generate must accept this prompt");
    assert_eq!(
        (made.into_inner(), reason),
        (vec![0; 3], FinishReason::Length),
        "generate where `choose` returns 0 three times, without stop tokens: (new tokens, reason \
         to end)"
    );
}

/// Returns the tokens that `generate` writes and its finish reason, if `choose` returns the tokens
/// of `script` in turn.
fn written(
    prompt: &[u32],
    script: &[u32],
    limits: &Limits,
    end_after: usize,
) -> (Vec<u32>, FinishReason) {
    let case = fixtures().case("task_3_model/llama");
    let (mut wants, mut found) = (script.iter(), Vec::new());
    let on_token = |token| {
        found.push(token);
        if found.len() == end_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let choose = |_: &[f32], _: &[u32]| {
        *wants.next().expect("`choose` must not be called more often than the limits allow")
    };
    let reason = session(&case, 64).generate(prompt, 64, limits, choose, on_token);
    (found, reason.expect("generate must accept this prompt"))
}

#[test]
fn task_4_generate_with_scripted_choices() {
    let stop = |limit, tokens: &[u32]| Limits {
        stop_tokens: tokens.iter().copied().collect(),
        ..limits(limit, 64)
    };
    let same = [5; 50];
    /// Name, chosen tokens, limits, tokens before a break, number of new tokens, reason.
    type Case<'a> = (&'a str, &'a [u32], Limits, usize, usize, FinishReason);
    let cases: [Case<'_>; 6] = [
        ("the first token is a stop token", &[9], stop(4, &[9]), 9, 0, FinishReason::Stop),
        ("the stop token is also in the prompt", &[3, 2], stop(4, &[2]), 9, 1, FinishReason::Stop),
        (
            "the same token is chosen fifty times",
            &same,
            limits(50, 64),
            99,
            50,
            FinishReason::Length,
        ),
        ("the prompt's last token is chosen", &[2, 2], limits(2, 64), 9, 2, FinishReason::Length),
        (
            "`on_token` returns Break at the last token",
            &[3, 4],
            limits(2, 64),
            2,
            2,
            FinishReason::Interrupted,
        ),
        (
            "`on_token` returns Break at the first token",
            &[3],
            limits(2, 64),
            1,
            1,
            FinishReason::Interrupted,
        ),
    ];
    for (name, script, limits, end_after, new, reason) in cases {
        let found = written(&[1, 2], script, &limits, end_after);
        assert_eq!(
            found,
            (script[..new].to_vec(), reason),
            "generate where {name}, and `choose` returns {script:?}: (tokens passed to `on_token`, \
             reason to end)"
        );
    }
}

#[test]
fn task_4_feed_computes_logits_only_for_last_token() {
    let case = fixtures().case("task_3_model/llama");
    let mut model = model(&case, RopeLayout::HalfSplit);
    // The output head lacks a row, so multiplying by it panics. Nothing may do so here.
    let (rows, cols) = (model.config.vocab_size - 1, model.config.hidden_size);
    model.lm_head = Some(Matrix::from_f32(rows, cols, &vec![0.0; rows * cols]));
    let mut session = Session::new(Arc::new(model), Arc::new(plan()), 16, CacheType::F32);
    let tokens = [&case.ids("a")[..6], &[37]].concat();
    let what = "feed of seven tokens in chunks of two, where the last token is outside the \
                vocabulary: use the output head only for the last row of the last chunk, which \
                doesn't run here";
    let refused = check::assert_refuses(what, || session.feed(&tokens, 2).is_err());
    assert!(refused, "{what}: returned no error, but this must be an error");
    assert_eq!(session.cache().len(0), 6, "{what}: wrong number of positions in the cache");
}

#[test]
fn task_4_generate_rejects_empty_prompt() {
    let mut session = session(&fixtures().case("task_3_model/llama"), 16);
    let go_on = |_| ControlFlow::Continue(());
    let found = session.generate(&[], 64, &limits(4, 4), |_, _| 0, go_on);
    let error = match found {
        Ok(reason) => {
            panic!("generate with an empty prompt: returned {reason:?}, but this must be an error")
        }
        Err(error) => error.to_string(),
    };
    assert!(
        error.contains("empty"),
        "generate with an empty prompt: the error must contain \"empty\", but it is {error:?}"
    );
}

#[test]
fn task_4_generate_continues_from_the_cache() {
    let case = fixtures().case("task_3_model/qwen2");
    let mut session = session(&case, 64);
    let prompt = case.ids("a");
    let first = generate(&case, &mut session, &prompt, 64, &limits(4, 16), usize::MAX);
    assert_eq!(
        first,
        Generated {
            tokens: case.read::<Vec<u32>>("greedy")[..4].to_vec(),
            reason: FinishReason::Length,
            computed: 11
        },
        "generate with max_new_tokens 4: new tokens, reason to end and number of computed positions"
    );
    // The next prompt is the first prompt and its four new tokens. Its first 11 tokens are in the
    // cache. The twelfth was chosen but never fed.
    let said = [prompt, first.tokens].concat();
    let mut logits = Vec::new();
    let choose = |scores: &[f32], _: &[u32]| {
        logits = scores.to_vec();
        argmax(scores)
    };
    let reason = session
        .generate(&said, 64, &limits(1, 16), choose, |_| ControlFlow::Continue(()))
        .expect("generate must accept this prompt");
    assert_eq!(reason, FinishReason::Length, "generate with max_new_tokens 1: reason to end");
    assert_eq!(
        session.cache().computed(),
        12,
        "total number of computed positions: 11 of the second prompt's 12 tokens are in the cache, \
         so only one is computed"
    );
    let what = format!("{}/logits_new, new token 4", case.name());
    check::assert_close(
        &what,
        &tensor(&[logits.len()], logits),
        &at(&case.tensor("logits_new"), 4),
        case.tolerance("logits_new"),
    );
}

#[test]
fn task_4_generate_reuses_the_shared_prefix() {
    let case = fixtures().case("task_3_model/llama");
    let (a, b) = (case.ids("a"), case.ids("b"));
    let mut session = session(&case, 16);
    feed(&mut session, &a[..5], 64, &case, "logits_a", 4, "five tokens of a");
    let mut logits = Vec::new();
    let choose = |scores: &[f32], _: &[u32]| {
        logits = scores.to_vec();
        argmax(scores)
    };
    // The texts share four tokens. The fifth token in the cache differs.
    session
        .generate(&b, 64, &limits(1, 16), choose, |_| ControlFlow::Continue(()))
        .expect("generate must accept this prompt");
    let found = (session.tokens().to_vec(), session.cache().computed());
    assert_eq!(
        found,
        (b, 5 + 2),
        "generate with the prompt b in a session of five tokens that shares four with b: (the \
         session's tokens, number of computed positions)"
    );
    let what = format!("{}/logits_b, position 5, computed by `generate`", case.name());
    let more = "\n  run as   the prompt b in a session with five tokens of a, which shares its \
                first four tokens with b";
    let expected = at(&case.tensor("logits_b"), 5);
    let found = tensor(&[logits.len()], logits);
    check::assert_close_noting(&what, &found, &expected, case.tolerance("logits_b"), more);
}

/// Compares with week 1's model, which recomputes everything, for the same weights and tokens.
#[test]
fn task_4_embedded_model_matches_week_1() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story");
    let model = Arc::new(load::load_folder(&folder, 16).expect("the embedded model must load"));
    let tokens: Vec<u32> = random(2110, &[4]).iter().map(|x| (x.abs() * 700.0) as u32).collect();
    let mut session = Session::new(model, Arc::new(plan()), 16, CacheType::F32);
    session.feed(&tokens[..1], 64).expect("feed must accept the first token");
    let found =
        session.feed(&tokens[1..], 64).expect("feed must accept three more tokens").to_vec();
    let expected =
        next_token_logits(&load_model(&folder).expect("the embedded model must load"), &tokens);
    let tensors = [found, expected].map(|logits| tensor(&[logits.len()], logits));
    let property = "your models of week 1 and week 2 have the same weights and get the same four \
                    tokens";
    check::assert_agrees(
        "logits of the embedded model after four tokens, compared with week 1's model",
        &tensors[0],
        &tensors[1],
        1e-3,
        property,
    );
}

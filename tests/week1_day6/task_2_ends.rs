//! Week 1, day 6, task 2: several limits at once, errors, and generations that the caller ends.

use super::*;

#[test]
fn task_2_max_new_tokens_takes_precedence_over_full_context() {
    let cases = [(1, 4), (2, 5), (1, 20)];
    let input = |(n, context)| format!("max_new_tokens {n}, a context of {context}");
    let found = cases.map(|(n, context)| {
        run(&[7, 7, 7], &[1, 2, 3], &limits(n, context, &[]), None).line(&input((n, context)))
    });
    let expected = cases.map(|case| line(&input(case), &[1, 2][..case.0], case.0, "Length"));
    assert_answer(
        "a prompt of 3 tokens: once max_new_tokens is reached, the reason is Length, even if the \
         context is full too",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_prompt_longer_than_context_returns_an_error() {
    // Even if no new token is allowed.
    let input = |n| format!("a prompt of 13 tokens, a context of 12, max_new_tokens {n}");
    let found = [5, 0].map(|n| run(&[7; 13], &[1], &limits(n, 12, &[]), None).line(&input(n)));
    let expected = [5, 0].map(|n| line(&input(n), &[], 0, "an error"));
    assert_answer(
        "a prompt longer than the context is an error, and the model must not run",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
    let message = run(&[7; 13], &[1], &limits(5, 12, &[]), None)
        .returned
        .expect_err("generate must return an error for this prompt")
        .to_string();
    assert!(
        message.contains("13") && message.contains("12"),
        "a prompt of 13 tokens, a context of 12: the error must name both lengths\n  found    \
         {message:?}\n  expected a message that contains 13 and 12"
    );
}

#[test]
fn task_2_empty_prompt_returns_an_error() {
    let input = |n| format!("an empty prompt, max_new_tokens {n}");
    let found = [0, 3].map(|n| run(&[], &[1, 2, 3], &limits(n, 12, &[]), None).line(&input(n)));
    let expected = [0, 3].map(|n| line(&input(n), &[], 0, "an error"));
    assert_answer(
        "an empty prompt is an error: it has no position to read logits from",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_repeated_tokens_do_not_end_generation() {
    let repeated = [[5; 100].as_slice(), [[6, 7, 8, 9]; 60].as_flattened()].concat();
    let found = written(&[7; 3], &repeated, &limits(repeated.len(), 1000, &[]));
    assert!(
        found == (repeated.clone(), FinishReason::Length),
        "the model writes 5 a hundred times, then 6, 7, 8, 9 sixty times, without stop tokens, \
         with max_new_tokens 340: on_token got {} tokens, returned {:?}, expected all 340 and \
         Length\n  repeated tokens don't end a text: only max_new_tokens, the context and stop \
         tokens do",
        found.0.len(),
        found.1
    );
    let found = written(&[7, 4, 7], &[3, 4, 5], &limits(3, 100, &[4]));
    assert!(
        found == (vec![3], FinishReason::Stop),
        "the model writes 3 and 4, and the stop token 4 is also in the prompt: on_token got {:?}, \
         returned {:?}, expected [3] and Stop",
        found.0,
        found.1
    );
}

#[test]
fn task_2_on_token_can_interrupt_generation() {
    let cases = [(6, 100), (2, 100), (6, 5)];
    let input = |(n, context)| format!("max_new_tokens {n}, a context of {context}");
    let found = cases.map(|(n, context)| {
        run(&[7, 7, 7], &[3, 4, 5], &limits(n, context, &[]), Some(4)).line(&input((n, context)))
    });
    let expected = cases.map(|case| line(&input(case), &[3, 4], 2, "Interrupted"));
    assert_answer(
        "a prompt of 3 tokens, the model writes 3, 4, 5 and on_token returns Break at 4: the \
         reason is Interrupted, even if 4 also reaches a limit",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_embedded_model_matches_transformers() {
    // Before the model is loaded.
    assert!(
        run(&[7], &[], &limits(0, 9, &[]), None).returned.is_ok(),
        "generate with max_new_tokens 0 returned an error, but 0 is allowed"
    );
    let model = load_model(&embedded_model()).expect("load_model must load the embedded model");
    let fixtures = fixtures();
    for name in fixtures.cases("task_2_greedy/") {
        let case = fixtures.case(&name);
        let (prompt, expected) = (case.ids("prompt"), case.ids("new"));
        let stop: Vec<u32> = case.read("stop");
        let limits = limits(case.count("max_new_tokens"), model.config.max_positions, &stop);
        let (mut new, mut passes) = (Vec::new(), 0);
        let reason = generate(
            |tokens| {
                passes += 1;
                assert!(
                    passes <= limits.max_new_tokens,
                    "{name}: the model ran {passes} times, but at most {} tokens are allowed",
                    limits.max_new_tokens
                );
                next_token_logits(&model, tokens)
            },
            &prompt,
            &limits,
            |logits, _| argmax(logits),
            |token| {
                new.push(token);
                ControlFlow::Continue(())
            },
        )
        .expect("generate must accept this prompt");
        let text = case.value("text");
        assert!(
            new == expected,
            "{name}: transformers continues the prompt with {text}\n  found    {new:?}\n  expected \
             {expected:?}"
        );
        let ended = if case.value("stopped").as_bool().expect("yes or no") {
            FinishReason::Stop
        } else {
            FinishReason::Length
        };
        assert!(
            reason == ended,
            "{name}: the tokens are right, but the reason to end is wrong\n  found    \
             {reason:?}\n  expected {ended:?}"
        );
    }
}

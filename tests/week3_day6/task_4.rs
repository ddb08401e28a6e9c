//! Week 3, day 6, task 4: a smaller model drafts.

use tiny_llm::{
    week1::sampling::{Rng, SamplerOptions},
    week3::{
        accept::{Draft, distribution, draw_weighted},
        drafter::{DraftModel, Drafter},
    },
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::check::{self, resting_on};

use super::{RULE, VOCABULARY, draft_model, greedy, model, session, texts, tokens};

#[track_caller]
fn draft_tokens(
    drafter: &mut DraftModel,
    text: &[u32],
    k: usize,
    sampling: &SamplerOptions,
    seed: u64,
) -> Vec<Draft> {
    let call = format!("DraftModel::draft after {text:?}, {k} tokens");
    check::assert_accepts(&call, || drafter.draft(text, k, sampling, &mut Rng::new(seed)))
        .unwrap_or_else(|error| panic!("{call}: this must succeed, but it failed: {error:#}"))
}

#[test]
fn task_4_drafts_match_greedy_output_of_the_model() {
    for family in ["llama", "qwen3"] {
        for (prompt, answer) in texts(family) {
            let mut drafter = draft_model(model(family), 40);
            for k in [0, 1, 3, 7] {
                let found = draft_tokens(&mut drafter, &prompt, k, &greedy(), 1);
                check::assert_answer(
                    &format!("{family}: the {k} tokens drafted after {prompt:?}"),
                    &tokens(&found),
                    &answer[..k].to_vec(),
                );
            }
        }
    }
}

/// Rejected drafts must have no effect later. The next drafts are those of a new draft model that
/// gets the same text.
#[test]
fn task_4_rejected_drafts_leave_no_trace() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    let other = |token: u32| (token + 1) % VOCABULARY as u32;
    for kept in 0..4 {
        let mut drafter = draft_model(model("llama"), 40);
        draft_tokens(&mut drafter, &prompt, 5, &greedy(), 1);
        let text = [&prompt[..], &answer[..kept], &[other(answer[kept])]].concat();
        let found = tokens(&draft_tokens(&mut drafter, &text, 5, &greedy(), 1));
        let fresh = draft_tokens(&mut draft_model(model("llama"), 40), &text, 5, &greedy(), 1);
        check::assert_answer(
            &format!(
                "five drafts after {prompt:?}, {kept} of them accepted, then drafts after \
                 {text:?}; the expected drafts are those of a new DraftModel\n "
            ),
            &found,
            &tokens(&fresh),
        );
    }
}

/// Positions of tokens that stay in the text also stay in the draft model's cache.
#[test]
fn task_4_reuses_cached_positions() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    let mut drafter = draft_model(model("llama"), 40);
    let computed = |drafter: &DraftModel| drafter.session().cache().computed();
    draft_tokens(&mut drafter, &prompt, 4, &greedy(), 1);
    check::assert_answer(
        "4 drafts after a prompt of 5 tokens: positions computed (5 for the prompt, one for each \
         draft but the last)\n ",
        &computed(&drafter),
        &8,
    );
    let text = [&prompt[..], &answer[..2], &[0]].concat();
    draft_tokens(&mut drafter, &text, 2, &greedy(), 1);
    check::assert_answer(
        "then two drafts are accepted, another token follows, and two more tokens are drafted: \
         positions computed in all (8 before, the other token, one new draft)\n ",
        &computed(&drafter),
        &10,
    );
}

/// Each draft has the distribution from which it was drawn. It follows the request's options, and
/// counts the earlier drafts as seen.
#[test]
fn task_4_drafts_follow_the_sampling_options() {
    let (prompt, _) = texts("llama").swap_remove(0);
    let sampling = SamplerOptions {
        temperature: 0.8,
        top_k: 9,
        top_p: 0.95,
        min_p: 0.01,
        repetition_penalty: 1.8,
    };
    resting_on(&[RULE], || {
        for seed in 0..10 {
            let mut drafter = draft_model(model("llama"), 40);
            let drafts = draft_tokens(&mut drafter, &prompt, 4, &sampling, seed);
            let (mut text, mut rng) = (prompt.clone(), Rng::new(seed));
            let mut alone = session(model("llama"), 40);
            for (i, draft) in drafts.iter().enumerate() {
                alone.clear();
                let q = distribution(
                    &sampling,
                    alone.feed(&text, 8).expect("feed must accept this text"),
                    &text,
                );
                let weights: Vec<f64> = q.iter().map(|&x| f64::from(x)).collect();
                let token = draw_weighted(&weights, rng.uniform());
                let what = format!("seed {seed}, draft {i} after {text:?}");
                check::assert_agrees(
                    &format!("{what}: its distribution"),
                    &tensor(&[VOCABULARY], draft.q.clone()),
                    &tensor(&[VOCABULARY], q),
                    1e-4,
                    "a draft's distribution comes from the model's logits after the text and the \
                     earlier drafts, under the request's options, with all these tokens as `seen`",
                );
                check::assert_answer(
                    &format!("{what}: drawn from its distribution with one random number\n "),
                    &draft.token,
                    &token,
                );
                text.push(draft.token);
            }
            assert_eq!(drafts.len(), 4, "seed {seed}: number of drafts, four requested");
        }
    });
}

/// A draft model may have a shorter context than its target.
#[test]
fn task_4_drafts_stop_at_the_end_of_the_context() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    for (context, expected) in [(5, 1), (6, 2), (7, 3), (4, 0), (2, 0)] {
        let mut drafter = draft_model(model("llama"), context);
        let found = draft_tokens(&mut drafter, &prompt, 6, &greedy(), 1);
        check::assert_answer(
            &format!(
                "a prompt of 5 tokens, a draft model with a context of {context}, six drafts \
                 requested"
            ),
            &tokens(&found),
            &answer[..expected].to_vec(),
        );
    }
}

#[test]
fn task_4_rejects_another_vocabulary_size() {
    let drafts = draft_tokens(&mut draft_model(model("llama"), 40), &[1, 2], 1, &greedy(), 1);
    assert_eq!(
        drafts.len(),
        1,
        "number of drafts of a model with the target's vocabulary, one requested"
    );
    let Err(error) = DraftModel::new(session(model("llama"), 8), 1536) else {
        panic!(
            "a draft model with 37 tokens was accepted for a target with 1,536 tokens, expected an \
             error"
        );
    };
    let error = error.to_string();
    assert!(
        error.contains("37") && error.contains("1536"),
        "the error must name both vocabulary sizes, 37 and 1536, but it is: {error}"
    );
}

//! Week 3, day 6, task 5: verify and rewind.

use std::{collections::HashSet, ops::ControlFlow, sync::Arc};

use tiny_llm::{
    week1::{
        generate::{FinishReason, Limits},
        sampling::{Rng, Sampler, SamplerOptions},
    },
    week2::{
        cache::{CacheType, KvCache},
        generate::Session,
        kernels::vector::TILE,
        model::Model,
    },
    week3::{
        draft_length::{Costs, DraftLength},
        drafter::Drafter,
        lookup_drafter::LookupDrafter,
        paged::PagedCache,
        speculate::Speculation,
    },
};
use tiny_llm_harness::check::{self, resting_on};

use super::{
    RULE, Scripted, VOCABULARY, altered, always, draft_model, greedy, model, same_rate, session,
    speculation, step, texts,
};

/// Returns a model that agrees with `model("llama")` often, but not always.
fn similar() -> Arc<Model> {
    altered("llama", &|i, x| if i % 3 == 0 { x * 1.15 } else { x })
}

/// Returns a closure that proposes `right` right drafts and then `wrong` wrong drafts.
fn right_then_wrong(right: usize, wrong: usize) -> impl FnMut(&[u32], usize) -> Vec<u32> {
    let (prompt, answer) = texts("llama").swap_remove(0);
    move |text, k| {
        let at = text.len() - prompt.len();
        let good = answer[at..].iter().copied().take(right);
        let bad = answer[at..].iter().skip(right).map(|&t| (t + 1) % VOCABULARY as u32);
        good.chain(bad.take(wrong)).take(k).collect()
    }
}

#[test]
fn task_5_step_keeps_right_drafts_and_rewinds_wrong_ones() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    for (right, wrong) in [(0, 0), (3, 0), (0, 3), (2, 2), (1, 1)] {
        let mut session = session(model("llama"), 40);
        let mut speculation = speculation(Scripted(right_then_wrong(right, wrong)), 6);
        let mut text = prompt.clone();
        let why = format!(
            "a prompt of {} tokens, then {right} right and {wrong} wrong drafts",
            prompt.len()
        );
        resting_on(&[RULE], || step(&mut speculation, &mut session, &mut text, 7));
        let expected = [&prompt[..], &answer[..=right]].concat();
        check::assert_answer(&format!("{why}: the text after a step"), &text, &expected);
        check::assert_answer(
            &format!("{why}: the session's tokens, which must be the text without its last token"),
            &session.tokens().to_vec(),
            &expected[..expected.len() - 1].to_vec(),
        );
        check::assert_answer(
            &format!("{why}: (positions in the cache, positions computed)\n "),
            &(session.cache().len(0), session.cache().computed()),
            &(expected.len() - 1, prompt.len() + right + wrong),
        );
        let counts = speculation.counts();
        check::assert_answer(
            &format!("{why}: passes, drafted, accepted, refused\n "),
            &(counts.passes, counts.drafted, counts.accepted, counts.refused),
            &(1, (right + wrong) as u64, right as u64, u64::from(wrong > 0)),
        );
    }
}

/// What is accepted, rejected and rewound in one pass must not affect the next. Texts of many
/// passes are the same with any drafter.
#[test]
fn task_5_greedy_text_is_independent_of_the_drafter() {
    let similar = similar();
    for (prompt, answer) in texts("llama") {
        for max in [1, 4] {
            let drafters: [(&str, Box<dyn Drafter>); 5] = [
                ("the text so far", Box::new(LookupDrafter { longest: 3, vocabulary: VOCABULARY })),
                ("an unrelated model", Box::new(draft_model(model("qwen3"), 40))),
                ("a similar model", Box::new(draft_model(Arc::clone(&similar), 40))),
                ("the model itself", Box::new(draft_model(model("llama"), 40))),
                (
                    "a drafter that is always wrong",
                    Box::new(Scripted(|_: &[u32], k: usize| vec![36; k])),
                ),
            ];
            for (who, drafter) in drafters {
                let what = format!("drafts of {who}, at most {max} in a pass, after {prompt:?}");
                let mut session = session(model("llama"), 40);
                let mut speculation = speculation(drafter, max);
                let mut text = prompt.clone();
                resting_on(&[RULE], || {
                    while text.len() < prompt.len() + answer.len() {
                        let room = prompt.len() + answer.len() - text.len();
                        let before = text.len();
                        step(&mut speculation, &mut session, &mut text, room);
                        let new = text.len() - before;
                        assert!(
                            (1..=room).contains(&new),
                            "{what}: {new} new tokens in a step, expected 1 to {room}"
                        );
                    }
                });
                check::assert_answer(
                    &format!("{what}: the text must be that of the model alone"),
                    &text[prompt.len()..].to_vec(),
                    &answer,
                );
                let counts = speculation.counts();
                // Without diagnosis: a wrong count changes both numbers, as other mistakes do.
                let found = session.cache().computed() as u64;
                let expected = prompt.len() as u64 + counts.drafted + counts.passes - 1;
                assert!(
                    found == expected,
                    "{what}: positions computed. Expected are the prompt, all drafts, and in each \
                     pass but the first the last token of the text\n  found    {found}\n  expected \
                     {expected}"
                );
                if who == "the model itself" {
                    check::assert_answer(
                        &format!("{what}: accepted drafts, expected all\n "),
                        &counts.accepted,
                        &counts.drafted,
                    );
                }
            }
        }
    }
}

/// In a paged cache, rejected drafts release the pages that only they used (day 3). The text is the
/// same as with a dense cache.
#[test]
fn task_5_rewind_releases_pages() {
    let (model, mut rng) = (model("llama"), Rng::new(8));
    let prompt: Vec<u32> = (0..TILE - 3).map(|_| (rng.next_u64() % 37) as u32).collect();
    let shape = session(Arc::clone(&model), 96).cache().shape();
    let paged = PagedCache::new(shape, TILE, 3, CacheType::F32);
    let plan = Arc::clone(&session(Arc::clone(&model), 8).plan);
    let mut session_in_pages = Session::with_cache(Arc::clone(&model), plan, paged);
    let mut dense = session(model, 96);
    let wrong = |_: &[u32], k: usize| vec![36; k];
    let (mut here, mut there) = (speculation(Scripted(wrong), 5), speculation(Scripted(wrong), 5));
    let (mut text, mut expected) = (prompt.clone(), prompt);
    resting_on(&[RULE], || {
        for _ in 0..12 {
            let call = format!("a step in pages of {TILE} positions, after {} tokens", text.len());
            check::assert_accepts(&call, || {
                let mut rng = Rng::new(5);
                here.step(&mut session_in_pages, &mut text, (9, 8), &greedy(), &mut rng)
            })
            .unwrap_or_else(|error| panic!("{call}: this must succeed, but it failed: {error:#}"));
            step(&mut there, &mut dense, &mut expected, 9);
            check::assert_answer(&format!("{call}: the text"), &text, &expected);
            let cache = session_in_pages.cache();
            let pages = cache.table(0).len();
            check::assert_answer(
                &format!("{call}: (positions in the cache, its pages, free pages of 3)\n "),
                &(cache.len(0), pages, cache.pool().num_free()),
                &(text.len() - 1, (text.len() - 1).div_ceil(TILE), 3 - pages),
            );
        }
    });
}

/// A penalty depends on all earlier tokens, including the drafts of a pass.
#[test]
fn task_5_penalty_includes_the_drafts() {
    let sampling = SamplerOptions { repetition_penalty: 1.6, ..greedy() };
    for (prompt, _) in texts("llama") {
        let mut alone = session(model("llama"), 40);
        let mut sampler = Sampler { options: sampling.clone(), rng: Rng::new(0) };
        let (mut expected, limits) = (prompt.clone(), limits(14, &[]));
        alone
            .generate(
                &prompt,
                8,
                &limits,
                |logits, seen| sampler.choose(logits, seen),
                |token| {
                    expected.push(token);
                    ControlFlow::Continue(())
                },
            )
            .expect("generate must accept this prompt");
        let script = expected.clone();
        let right = move |text: &[u32], k: usize| -> Vec<u32> {
            script[text.len()..].iter().copied().take(k).collect()
        };
        let mut speculation = speculation(Scripted(right), 6);
        let (mut session, mut text) = (session(model("llama"), 40), prompt.clone());
        resting_on(&[RULE], || {
            while text.len() < expected.len() {
                let room = expected.len() - text.len();
                let mut rng = Rng::new(1);
                speculation
                    .step(&mut session, &mut text, (room, 8), &sampling, &mut rng)
                    .expect("step must accept this text");
            }
        });
        check::assert_answer(
            &format!(
                "greedy text after {prompt:?} with a repetition penalty of 1.6 and only right \
                 drafts; expected is the text of `Session::generate`\n "
            ),
            &text,
            &expected,
        );
        check::assert_answer(
            &format!("after {prompt:?}: accepted drafts, expected all\n "),
            &speculation.counts().accepted,
            &speculation.counts().drafted,
        );
    }
}

/// Accepted drafts are counted, and these counts determine how many tokens are drafted.
#[test]
fn task_5_draft_count_follows_the_acceptance_rate() {
    let (prompt, _) = texts("llama").swap_remove(0);
    for (right, wrong, rate) in [(3, 0, 5.625 / 6.5), (0, 3, 2.625 / 4.5), (2, 1, 4.625 / 6.5)] {
        let costs = Costs { row: 1e-9, draft: 0.0 };
        let mut speculation =
            Speculation::new(Scripted(right_then_wrong(right, wrong)), DraftLength::new(6, costs));
        let (mut session, mut text) = (session(model("llama"), 40), prompt.clone());
        step(&mut speculation, &mut session, &mut text, 7);
        same_rate(
            &format!("three drafts, {right} accepted: the rate afterwards"),
            speculation.length.rate(),
            rate,
        );
    }
    let asked = std::cell::RefCell::new(Vec::new());
    let drafter = Scripted(|_: &[u32], k: usize| {
        asked.borrow_mut().push(k);
        Vec::new()
    });
    let mut speculation = Speculation::new(drafter, always(5));
    let (mut session, mut text) = (session(model("llama"), 40), prompt);
    for room in [9, 3, 1] {
        step(&mut speculation, &mut session, &mut text, room);
    }
    check::assert_answer(
        "at most 5 drafts and at most 9, then 3, then 1 new tokens, one of them the model's own: \
         numbers of drafts requested, without zeros\n ",
        &asked.borrow().iter().copied().filter(|&k| k > 0).collect(),
        &vec![5, 2],
    );
}

#[test]
fn task_5_step_with_empty_text_returns_an_error() {
    let mut session = session(model("llama"), 40);
    let mut text = Vec::new();
    let mut speculation = speculation(Scripted(|_: &[u32], _| Vec::new()), 4);
    let step = speculation.step(&mut session, &mut text, (4, 8), &greedy(), &mut Rng::new(1));
    assert!(
        step.is_err(),
        "step with an empty text must return an error, because there are no logits to read"
    );
}

fn limits(max_new_tokens: usize, stop: &[u32]) -> Limits {
    let stop_tokens = HashSet::from_iter(stop.iter().copied());
    Limits { max_new_tokens, context: 40, stop_tokens }
}

/// A text may end among the accepted drafts of a pass. Later drafts are neither reported nor kept.
#[test]
fn task_5_generate_stops_among_accepted_drafts() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    let right = |text: &[u32], k: usize| -> Vec<u32> {
        let (prompt, answer) = texts("llama").swap_remove(0);
        answer[text.len() - prompt.len()..].iter().copied().take(k).collect()
    };
    let end = |why: &str, limits: &Limits, enough: usize| {
        let mut session = session(model("llama"), 40);
        let (mut speculation, mut told) = (speculation(Scripted(right), 6), Vec::new());
        let call = format!("{why}: only right drafts, six in a pass");
        let reason = resting_on(&[RULE], || {
            let on_token = |token| {
                told.push(token);
                if told.len() == enough {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let mut rng = Rng::new(1);
            let sampled = (&greedy(), &mut rng);
            speculation
                .generate(&mut session, (&prompt, 3), limits, sampled, on_token)
                .expect("generate must accept this prompt")
        });
        check::assert_answer(
            &format!("{call}: the session's tokens must be a prefix of the text"),
            &session.tokens().to_vec(),
            &[&prompt[..], &answer].concat()[..session.tokens().len()].to_vec(),
        );
        (told, reason, session.tokens().len())
    };
    let few = end("max_new_tokens is 4", &limits(4, &[]), 99);
    check::assert_answer(
        "max_new_tokens is 4: (tokens reported, finish reason, tokens in the session)",
        &few,
        &(answer[..4].to_vec(), FinishReason::Length, 8),
    );
    // The fourth token, 20, ends the text.
    let stop = end("the fourth token is a stop token", &limits(7, &[answer[3]]), 99);
    check::assert_answer(
        "the fourth token is a stop token: (tokens reported, finish reason, tokens in the session)",
        &stop,
        &(answer[..3].to_vec(), FinishReason::Stop, 8),
    );
    let enough = end("on_token returns Break after two tokens", &limits(7, &[]), 2);
    check::assert_answer(
        "on_token returns Break: (tokens reported, finish reason, tokens in the session)",
        &enough,
        &(answer[..2].to_vec(), FinishReason::Interrupted, 7),
    );
    let full = end("the context is full", &Limits { context: 8, ..limits(7, &[]) }, 99);
    check::assert_answer(
        "the context is full: (tokens reported, finish reason, tokens in the session)",
        &full,
        &(answer[..3].to_vec(), FinishReason::ContextFull, 7),
    );
}

/// Different seeds give different texts, and the same seed gives the same text again.
#[test]
fn task_5_same_seed_gives_the_same_text() {
    let (prompt, _) = texts("llama").swap_remove(0);
    let sampling = SamplerOptions { temperature: 0.9, ..SamplerOptions::default() };
    let write = |seed| {
        let mut speculation = speculation(draft_model(similar(), 40), 4);
        let (mut session, mut text) = (session(model("llama"), 40), prompt.clone());
        let mut rng = Rng::new(seed);
        let on_token = |token| {
            text.push(token);
            ControlFlow::Continue(())
        };
        let end = speculation
            .generate(&mut session, (&prompt, 8), &limits(20, &[]), (&sampling, &mut rng), on_token)
            .expect("generate must accept this prompt");
        (text, end, speculation.counts())
    };
    check::assert_answer("the same seed twice must give the same text", &write(3), &write(3));
    assert!(
        write(3).0 != write(4).0,
        "two seeds must give different texts of 20 tokens, but both gave {:?}",
        write(3).0
    );
}

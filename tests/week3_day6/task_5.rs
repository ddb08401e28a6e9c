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

/// A model that agrees with `model("llama")` often, and not always.
fn similar() -> Arc<Model> {
    altered("llama", &|i, x| if i % 3 == 0 { x * 1.15 } else { x })
}

/// Drafts of which the first so many are right.
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
fn task_5_one_step() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    for (right, wrong) in [(0, 0), (3, 0), (0, 3), (2, 2), (1, 1)] {
        let mut session = session(model("llama"), 40);
        let mut speculation = speculation(Scripted(right_then_wrong(right, wrong)), 6);
        let mut text = prompt.clone();
        let why = format!(
            "a prompt of {} tokens, then {right} drafts that are right and {wrong} that are not",
            prompt.len()
        );
        resting_on(&[RULE], || step(&mut speculation, &mut session, &mut text, 7));
        let expected = [&prompt[..], &answer[..=right]].concat();
        check::assert_answer(&format!("{why}: the text after a step"), &text, &expected);
        check::assert_answer(
            &format!("{why}: what the session holds, all but the last token"),
            &session.tokens().to_vec(),
            &expected[..expected.len() - 1].to_vec(),
        );
        check::assert_answer(
            &format!("{why}: positions in the cache, and positions that were computed\n "),
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

/// What is accepted, refused and rewound in one pass must not show in the next: texts of many passes,
/// whoever proposes and however much of it is right.
#[test]
fn task_5_the_same_greedy_text() {
    let similar = similar();
    for (prompt, answer) in texts("llama") {
        for max in [1, 4] {
            let drafters: [(&str, Box<dyn Drafter>); 5] = [
                ("the text so far", Box::new(LookupDrafter { longest: 3, vocabulary: VOCABULARY })),
                ("a model that shares nothing", Box::new(draft_model(model("qwen3"), 40))),
                ("a similar model", Box::new(draft_model(Arc::clone(&similar), 40))),
                ("the model itself", Box::new(draft_model(model("llama"), 40))),
                (
                    "a proposer that is always wrong",
                    Box::new(Scripted(|_: &[u32], k: usize| vec![36; k])),
                ),
            ];
            for (who, drafter) in drafters {
                let what = format!("drafts of {who}, at most {max} in a pass, behind {prompt:?}");
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
                            "{what}: {new} new tokens, where there was room for {room}"
                        );
                    }
                });
                check::assert_answer(
                    &format!("{what}: the text that the model alone would write"),
                    &text[prompt.len()..].to_vec(),
                    &answer,
                );
                let counts = speculation.counts();
                // Without diagnosis: a wrong count makes both numbers what others may be, too.
                let found = session.cache().computed() as u64;
                let expected = prompt.len() as u64 + counts.drafted + counts.passes - 1;
                assert!(
                    found == expected,
                    "{what}: positions that were computed: the prompt, and then in each pass its \
                     drafts and, in all but the first, the last token of the text\n  found    \
                     {found}\n  expected {expected}"
                );
                if who == "the model itself" {
                    check::assert_answer(
                        &format!("{what}: accepted of what was drafted\n "),
                        &counts.accepted,
                        &counts.drafted,
                    );
                }
            }
        }
    }
}

/// In a cache of pages, what is refused gives back the pages that it alone had (day 3), and the text is
/// the same.
#[test]
fn task_5_rewinds_across_pages() {
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
            let call = format!("a step in pages of {TILE} positions, behind {} tokens", text.len());
            check::assert_accepts(&call, || {
                let mut rng = Rng::new(5);
                here.step(&mut session_in_pages, &mut text, (9, 8), &greedy(), &mut rng)
            })
            .unwrap_or_else(|error| panic!("{call}: {error:#}"));
            step(&mut there, &mut dense, &mut expected, 9);
            check::assert_answer(&format!("{call}: the text"), &text, &expected);
            let cache = session_in_pages.cache();
            let pages = cache.table(0).len();
            check::assert_answer(
                &format!("{call}: positions in the cache, its pages, and free pages of 3\n "),
                &(cache.len(0), pages, cache.pool().num_free()),
                &(text.len() - 1, (text.len() - 1).div_ceil(TILE), 3 - pages),
            );
        }
    });
}

/// A penalty looks at all tokens before, and the drafts of a pass are among them.
#[test]
fn task_5_a_penalty_sees_the_drafts() {
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
            .expect("a good prompt");
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
                    .expect("a good text");
            }
        });
        check::assert_answer(
            &format!(
                "behind {prompt:?}, greedily with a repetition penalty of 1.6, every draft right: \
                 the text that `Session::generate` writes with week 1's sampler\n "
            ),
            &text,
            &expected,
        );
        check::assert_answer(
            &format!("behind {prompt:?}: accepted of what was drafted\n "),
            &speculation.counts().accepted,
            &speculation.counts().drafted,
        );
    }
}

/// What was accepted reaches the count by which the number of drafts is chosen.
#[test]
fn task_5_the_number_of_drafts_follows() {
    let (prompt, _) = texts("llama").swap_remove(0);
    for (right, wrong, rate) in [(3, 0, 6.5 / 6.5), (0, 3, 2.625 / 4.5), (2, 1, 4.625 / 6.5)] {
        let costs = Costs { row: 1e-9, draft: 0.0 };
        let mut speculation =
            Speculation::new(Scripted(right_then_wrong(right, wrong)), DraftLength::new(6, costs));
        let (mut session, mut text) = (session(model("llama"), 40), prompt.clone());
        step(&mut speculation, &mut session, &mut text, 7);
        let rate = if wrong == 0 { 5.625 / 6.5 } else { rate };
        same_rate(
            &format!("three drafts, of which {right} are kept: the rate afterwards"),
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
        "at most 5 drafts, and room for 9, then 3, then 1 tokens, of which one is the model's own: \
         the drafts that are requested, without zeros\n ",
        &asked.borrow().iter().copied().filter(|&k| k > 0).collect(),
        &vec![5, 2],
    );
}

#[test]
fn task_5_an_empty_text_is_an_error() {
    let mut session = session(model("llama"), 40);
    let mut text = Vec::new();
    let mut speculation = speculation(Scripted(|_: &[u32], _| Vec::new()), 4);
    let step = speculation.step(&mut session, &mut text, (4, 8), &greedy(), &mut Rng::new(1));
    assert!(step.is_err(), "an empty text: there is no token whose logits could be read");
}

fn limits(max_new_tokens: usize, stop: &[u32]) -> Limits {
    let stop_tokens = HashSet::from_iter(stop.iter().copied());
    Limits { max_new_tokens, context: 40, stop_tokens }
}

/// A text may end within what a pass accepted; what lies behind its end is not told and not kept.
#[test]
fn task_5_a_text_ends_where_it_would() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    let right = |text: &[u32], k: usize| -> Vec<u32> {
        let (prompt, answer) = texts("llama").swap_remove(0);
        answer[text.len() - prompt.len()..].iter().copied().take(k).collect()
    };
    let end = |why: &str, limits: &Limits, enough: usize| {
        let mut session = session(model("llama"), 40);
        let (mut speculation, mut told) = (speculation(Scripted(right), 6), Vec::new());
        let call = format!("{why}: drafts that are all right, six in a pass");
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
                .expect("a good prompt")
        });
        check::assert_answer(
            &format!("{call}: the session holds a beginning of the text"),
            &session.tokens().to_vec(),
            &[&prompt[..], &answer].concat()[..session.tokens().len()].to_vec(),
        );
        (told, reason, session.tokens().len())
    };
    let few = end("four tokens are asked for", &limits(4, &[]), 99);
    check::assert_answer("four tokens", &few, &(answer[..4].to_vec(), FinishReason::Length, 8));
    // The fourth token, 20, ends the text.
    let stop = end("the fourth token is a stop token", &limits(7, &[answer[3]]), 99);
    check::assert_answer("a stop token", &stop, &(answer[..3].to_vec(), FinishReason::Stop, 8));
    let enough = end("the reader has had enough after two", &limits(7, &[]), 2);
    check::assert_answer("enough", &enough, &(answer[..2].to_vec(), FinishReason::Interrupted, 7));
    let full = end("the context is full", &Limits { context: 8, ..limits(7, &[]) }, 99);
    check::assert_answer(
        "a full context",
        &full,
        &(answer[..3].to_vec(), FinishReason::ContextFull, 7),
    );
}

/// Sampled texts go on forever differently, but each seed gives the same one again.
#[test]
fn task_5_a_seed_gives_the_same_text() {
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
            .expect("a good prompt");
        (text, end, speculation.counts())
    };
    check::assert_answer("the same seed again", &write(3), &write(3));
    assert!(write(3).0 != write(4).0, "two seeds gave one text of 20 tokens: {:?}", write(3).0);
}

//! Shared by the tests of the serving engine: requests, a model from the fixtures, and a log of the
//! engine's events.

#![allow(dead_code, reason = "every day's tests have this module, and use a part of it")]

use std::{collections::BTreeMap, sync::Arc};

use tiny_llm::{
    week1::generate::FinishReason,
    week2::{cache::CacheType, matrix::Matrix, model::Model, plan::Plan},
    week3::{
        engine::{Engine, Event},
        options::EngineOptions,
        request::{Request, RequestId},
        room::{EngineCache, dense},
    },
};
use tiny_llm_harness::{check, fixtures::Case};

#[path = "models.rs"]
pub(crate) mod models;

pub(crate) fn request(prompt: &[u32], max_new_tokens: usize) -> Request {
    Request::greedy(prompt.to_vec(), max_new_tokens)
}

pub(crate) fn model(case: &Case) -> Model {
    models::of_case(case, Matrix::from_f32)
}

/// Returns the text of a token in these tests, such as `<12>`.
pub(crate) fn token_bytes(token: u32) -> Vec<u8> {
    format!("<{token}>").into_bytes()
}

/// Returns an engine with `max_batch` batch slots, a dense f32 cache and week 2's simplest plan.
pub(crate) fn engine(case: &Case, max_batch: usize, options: EngineOptions) -> Engine {
    engine_with(case, max_batch, models::plan(), options)
}

/// Works like [`engine`], with another plan.
pub(crate) fn engine_with(
    case: &Case,
    max_batch: usize,
    plan: Plan,
    options: EngineOptions,
) -> Engine {
    let model = model(case);
    let cache = dense(&model, max_batch, usize::MAX, CacheType::F32);
    Engine::new(Arc::new(model), Arc::new(plan), cache, options, Box::new(token_bytes))
}

/// A log of the engine's events, by request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) answers: BTreeMap<RequestId, Vec<u32>>,
    pub(crate) ends: BTreeMap<RequestId, FinishReason>,
}

impl Told {
    /// Records an event, and checks that the request has not already finished.
    #[track_caller]
    pub(crate) fn take(&mut self, event: Event) {
        match event {
            Event::Token { id, token } => {
                assert!(
                    !self.ends.contains_key(&id),
                    "request {id}: got a token after it had finished"
                );
                self.answers.entry(id).or_default().push(token);
            }
            Event::Finished { id, reason } => {
                let before = self.ends.insert(id, reason);
                assert_eq!(before, None, "request {id}: reported as finished twice");
            }
        }
    }
}

#[track_caller]
pub(crate) fn step<C: EngineCache>(engine: &mut Engine<C>, told: &mut Told, when: &str) {
    check::assert_accepts(when, || engine.step(&mut |event| told.take(event)));
}

/// Steps until the engine is idle.
#[track_caller]
pub(crate) fn run<C: EngineCache>(engine: &mut Engine<C>, told: &mut Told, when: &str) {
    for _ in 0..1000 {
        if engine.is_idle() {
            return;
        }
        step(engine, told, when);
    }
    panic!("{when}: after 1000 steps a request is still waiting or running: {told:?}");
}

/// Submits and cancels requests at random. Each answer is the one of the request alone, or its
/// start.
#[track_caller]
pub(crate) fn random_schedule<C: EngineCache>(
    what: &str,
    case: &Case,
    engine: &mut Engine<C>,
    mut below: impl FnMut(usize) -> usize,
) {
    let [prompts, answers] = ["prompts", "greedy"].map(|name| case.read::<Vec<Vec<u32>>>(name));
    let (mut told, mut asked, mut cancelled) = (Told::default(), Vec::new(), Vec::new());
    let mut log = Vec::new();
    for _ in 0..40 {
        match below(4) {
            0 if asked.len() < 12 => {
                let (which, n) = (below(prompts.len()), below(8));
                let id = engine
                    .submit(request(&prompts[which], n))
                    .expect("submit must accept this request");
                asked.push((id, &answers[which][..n]));
                log.push(format!("submit prompt {which} for {n} tokens = {id}"));
            }
            1 if !asked.is_empty() && below(3) == 0 => {
                let id = below(asked.len()) as RequestId;
                log.push(format!("cancel {id}"));
                if engine.cancel(id) {
                    cancelled.push(id);
                }
            }
            _ => {
                log.push("step".to_owned());
                step(engine, &mut told, &format!("{what}: {log:?}"));
            }
        }
    }
    run(engine, &mut told, &format!("{what}: {log:?}, then steps to the end"));
    for (id, whole) in asked {
        let found = told.answers.remove(&id).unwrap_or_default();
        let cut = cancelled.contains(&id) && found.len() < whole.len();
        let expected = if cut { &whole[..found.len()] } else { whole };
        let end = if cut { FinishReason::Interrupted } else { FinishReason::Length };
        let start = if cut { "start of the answer" } else { "answer" };
        check::assert_answer(
            &format!("{what}, request {id} ({log:?}): ({start}, finish reason)"),
            &(found.as_slice(), told.ends.get(&id).copied()),
            &(expected, Some(end)),
        );
    }
    assert!(
        told.answers.is_empty(),
        "{what}: found tokens for requests that were never submitted, expected none: {told:?}"
    );
}

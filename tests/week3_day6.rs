//! Week 3, day 6: drafts from the text, the exact rule, how many drafts pay, a draft model, and a
//! pass that verifies.
//!
//! Expected values: `python-ref/oracle/week3_day6.py`; texts of whole models: `week3_day1.py`.

use std::sync::Arc;

use tiny_llm::{
    week1::sampling::{Rng, SamplerOptions},
    week2::{cache::CacheType, generate::Session, matrix::Matrix, model::Model},
    week3::{
        accept::Draft,
        draft_length::{Costs, DraftLength},
        drafter::{DraftModel, Drafter},
        speculate::Speculation,
    },
};
use tiny_llm_formats::Tensor;
use tiny_llm_harness::{
    check::{self, Part},
    fixtures::{Fixtures, Json},
};

use task_2::{task_2_distribution, task_2_verify_returns_accepted_count_and_next_token};

#[path = "week3_day6/edges.rs"]
mod edges;
#[path = "week3_day6/lost.rs"]
mod lost;
#[path = "parts/models.rs"]
mod models;
#[path = "week3_day6/task_1.rs"]
mod task_1;
#[path = "week3_day6/task_2.rs"]
mod task_2;
#[path = "week3_day6/task_3.rs"]
mod task_3;
#[path = "week3_day6/task_4.rs"]
mod task_4;
#[path = "week3_day6/task_5.rs"]
mod task_5;

fn fixtures() -> Fixtures {
    Fixtures::open("week3_day6")
}

fn rows(x: &Tensor) -> Vec<Vec<f32>> {
    x.outer_iter().map(|row| row.iter().copied().collect()).collect()
}

fn greedy() -> SamplerOptions {
    SamplerOptions { temperature: 0.0, ..SamplerOptions::default() }
}

fn options(value: &Json) -> SamplerOptions {
    let number = |name: &str| value[name].as_f64().expect("a number") as f32;
    SamplerOptions {
        temperature: number("temperature"),
        top_k: value["top_k"].as_u64().expect("a count") as usize,
        top_p: number("top_p"),
        min_p: number("min_p"),
        repetition_penalty: number("penalty"),
    }
}

const RULE: &Part = &Part {
    task: "week3-day6 task 2",
    what: "the exact rule",
    check: || {
        task_2_distribution();
        task_2_verify_returns_accepted_count_and_next_token();
    },
};

#[track_caller]
fn same_rate(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{what}\n  found    {found}\n  expected {expected}");
}

/// Returns one of two unrelated models with the same 37 tokens, which seldom agree.
fn model(family: &str) -> Arc<Model> {
    altered(family, &|_, x| x)
}

/// Returns the model `family` with each weight changed by `alter(index, weight)`.
fn altered(family: &str, alter: &dyn Fn(usize, f32) -> f32) -> Arc<Model> {
    let case = Fixtures::open("week3_day1").case(&format!("task_4_engine/{family}"));
    Arc::new(models::of_case(&case, |rows, cols, weights| {
        let weights: Vec<f32> = weights.iter().enumerate().map(|(i, x)| alter(i, *x)).collect();
        Matrix::from_f32(rows, cols, &weights)
    }))
}

fn session(model: Arc<Model>, context: usize) -> Session {
    Session::new(model, Arc::new(models::plan()), context, CacheType::F32)
}

/// Returns the fixture's prompts for a model, each with its greedy continuation.
fn texts(family: &str) -> Vec<(Vec<u32>, Vec<u32>)> {
    let case = Fixtures::open("week3_day1").case(&format!("task_4_engine/{family}"));
    let lists = |name: &str| case.read::<Vec<Vec<u32>>>(name);
    lists("prompts").into_iter().zip(lists("greedy")).collect()
}

const VOCABULARY: usize = 37;

fn draft_model(model: Arc<Model>, context: usize) -> DraftModel {
    DraftModel::new(session(model, context), VOCABULARY)
        .expect("DraftModel::new must accept the target's vocabulary")
}

fn tokens(drafts: &[Draft]) -> Vec<u32> {
    drafts.iter().map(|draft| draft.token).collect()
}

/// A drafter that proposes the tokens that its closure returns.
struct Scripted<F>(F);

impl<F: FnMut(&[u32], usize) -> Vec<u32>> Drafter for Scripted<F> {
    fn draft(
        &mut self,
        text: &[u32],
        k: usize,
        _sampling: &SamplerOptions,
        _rng: &mut Rng,
    ) -> anyhow::Result<Vec<Draft>> {
        let tokens = (self.0)(text, k);
        Ok(tokens.into_iter().map(|token| Draft::certain(token, VOCABULARY)).collect())
    }
}

/// Returns a draft length that is always `max`, because rows and drafts are almost free.
fn always(max: usize) -> DraftLength {
    DraftLength::new(max, Costs { row: 1e-9, draft: 0.0 })
}

fn speculation<D: Drafter>(drafter: D, max: usize) -> Speculation<D> {
    Speculation::new(drafter, always(max))
}

#[track_caller]
fn step<D: Drafter>(
    speculation: &mut Speculation<D>,
    session: &mut Session,
    text: &mut Vec<u32>,
    room: usize,
) {
    let call = format!("Speculation::step after {text:?}, at most {room} new tokens");
    let mut rng = Rng::new(5);
    check::assert_accepts(&call, || {
        speculation.step(session, text, (room, 4), &greedy(), &mut rng)
    })
    .unwrap_or_else(|error| panic!("{call}: this must succeed, but it failed: {error:#}"));
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day6.rs"]
mod fresh;

//! Day 6: speculative decoding.

use std::ops::ControlFlow;

use super::{
    super::{
        rust::{
            week1::{generate::Limits, sampling::Rng},
            week2::{cache::CacheType, generate::Session},
        },
        week1::sampling::SamplerOptions,
        week2::model::{Model, plan},
    },
    accept::few,
    rust::{
        draft_length::{Costs, DraftLength},
        drafter::{DraftModel, Drafter},
        lookup_drafter::LookupDrafter,
        speculate as rust,
    },
};
use crate::prelude::*;

exports! { fn speculate; }

/// The new tokens, and the numbers of passes, drafts, accepted drafts and passes with a rejection.
type Written = (Vec<u32>, (u64, u64, u64, u64));

/// Returns new tokens after `prompt [L]`. `draft_model` proposes at most `drafts` tokens per pass.
/// If it is None, a lookup in the text so far proposes them.
#[pyfunction]
#[pyo3(signature = (model, prompt, max_new_tokens, drafts, options, seed, draft_model=None))]
#[allow(clippy::too_many_arguments, reason = "a call in Python names them")]
fn speculate(
    model: Model,
    prompt: Ids<1>,
    max_new_tokens: Count,
    drafts: Count,
    options: SamplerOptions,
    seed: Long,
    draft_model: Option<Model>,
) -> PyResult<Written> {
    let (prompt, drafts) = (prompt.to_vec(), few("drafts", drafts)?);
    let (size, context) = (model.0.config.vocab_size, model.0.config.max_positions);
    vocabulary("prompt", &prompt, size)?;
    refuse_if!(!(1..=context).contains(&prompt.len());
        "prompt", format_args!("{} tokens", prompt.len()); "1 to {context}, the context");
    // Far larger than any logit.
    options.stay_finite(&[1e6])?;
    let options = options.to_rust();
    let limits =
        Limits { max_new_tokens: max_new_tokens.0, context, stop_tokens: Default::default() };
    let session = |model: Model| {
        let context = model.0.config.max_positions;
        Session::new(model.0, Arc::new(plan()), context, CacheType::F32)
    };
    attempt(move || {
        let drafter: Box<dyn Drafter> = match draft_model {
            Some(model) => Box::new(DraftModel::new(session(model), size)?),
            None => Box::new(LookupDrafter { longest: 3, vocabulary: size }),
        };
        let length = DraftLength::new(drafts, Costs { row: 1e-9, draft: 0.0 });
        let mut speculation = rust::Speculation::new(drafter, length);
        let (mut session, mut tokens) = (session(model), Vec::new());
        let on_token = |token| {
            tokens.push(token);
            ControlFlow::Continue(())
        };
        let mut rng = Rng::new(seed.0);
        let sampling = (&options, &mut rng);
        speculation.generate(&mut session, (&prompt, 64), &limits, sampling, on_token)?;
        let counts = speculation.counts();
        Ok((tokens, (counts.passes, counts.drafted, counts.accepted, counts.refused)))
    })
}

//! Chooses the tokens of one answer.

use std::{ops::ControlFlow, path::Path};

use anyhow::Result;
use tiny_llm::week1::{generate::argmax, sampling::Rng};
use tiny_llm_cli::OnToken;
use tiny_llm_formats::{FinishReason, request::Request};
use tiny_llm_kernels::sampling::Sampler;

use super::{finite::explained, forms::FormedAnswer};

/// A function that chooses a token from the logits and the tokens so far.
pub(super) type Sample = Box<dyn FnMut(&[f32], &[u32]) -> u32>;

/// Returns a function that samples with a request's options. The function does not sort the
/// vocabulary.
pub(super) fn sample(request: &Request) -> Sample {
    if request.sampling.is_greedy() {
        return Box::new(|logits, _| argmax(logits));
    }
    let mut rng = Rng::new(request.seed);
    let mut sampler = Sampler::new(request.sampling.clone());
    Box::new(move |logits, seen| sampler.choose(logits, seen, rng.uniform()))
}

/// Chooses an answer's tokens, and records whether a logit was NaN or infinite. Without this check,
/// such an answer would be meaningless or empty.
pub(super) struct Chooser {
    sample: Sample,
    form: Option<FormedAnswer>,
    not_finite: bool,
}

impl Chooser {
    pub(super) fn new(sample: Sample, form: Option<FormedAnswer>) -> Self {
        Self { sample, form, not_finite: false }
    }

    /// Chooses the next token. If a logit is NaN or infinite, the returned token is meaningless.
    /// [`Chooser::accept`] ignores it.
    pub(super) fn choose(&mut self, logits: &[f32], seen: &[u32]) -> u32 {
        if !logits.iter().all(|x| x.is_finite()) {
            self.not_finite = true;
            return 0;
        }
        match &mut self.form {
            Some(form) => form.choose(logits, seen, &mut self.sample),
            None => (self.sample)(logits, seen),
        }
    }

    /// Passes a chosen token to `on_token`, unless a logit was NaN or infinite. Returns `Break` in
    /// that case, if `on_token` returns it, or if the token completes a constrained answer.
    pub(super) fn accept(&mut self, token: u32, on_token: &mut OnToken<'_>) -> ControlFlow<()> {
        if self.not_finite {
            return ControlFlow::Break(());
        }
        on_token(token)?;
        let complete = self.form.as_mut().is_some_and(|form| form.accept(token));
        if complete { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns why the answer ended. `reason` is the reason that the engine found.
    ///
    /// # Errors
    /// If a logit was NaN or infinite.
    pub(super) fn end(self, reason: FinishReason, model: &Path) -> Result<FinishReason> {
        if self.not_finite {
            return Err(explained(model));
        }
        Ok(self.form.map_or(reason, |form| form.reason(reason)))
    }
}

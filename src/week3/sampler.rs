//! Provided. How a request's tokens are chosen: week 1's steps and draws, without sorting the
//! vocabulary.

use anyhow::{Result, ensure};
use tiny_llm_kernels::sampling as fast;

use super::extras::{Chosen, Shaper};
use crate::week1::{
    generate::argmax,
    sampling::{Rng, SamplerOptions},
};

/// A request's own options and its own generator, so that what it draws does not depend on who else
/// is there.
#[derive(Debug, Clone)]
pub struct Sampler {
    sampler: fast::Sampler,
    rng: Rng,
    /// Whether the largest logit decides alone.
    greedy: bool,
    /// What else the request asks for.
    shaper: Option<Box<Shaper>>,
}

impl Sampler {
    /// With nothing drawn yet.
    #[must_use]
    pub fn new(options: SamplerOptions, seed: u64) -> Self {
        let SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty } = options;
        let options = fast::SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty };
        Self {
            sampler: fast::Sampler::new(options),
            rng: Rng::new(seed),
            greedy: temperature == 0.0 && repetition_penalty == 1.0,
            shaper: None,
        }
    }

    /// The same with what else a request asks for.
    pub fn shape(&mut self, shaper: Option<Box<Shaper>>) {
        self.shaper = shaper;
    }

    /// Chooses the next token from `logits [V]`, after the tokens `seen` so far, prompt included.
    pub fn choose(&mut self, logits: &[f32], seen: &[u32]) -> u32 {
        let Some(mut shaper) = self.shaper.take() else { return self.choose_from(logits, seen) };
        let token = if shaper.penalises() {
            self.choose_from(shaper.shape(logits, seen), seen)
        } else {
            self.choose_from(logits, seen)
        };
        shaper.note(logits, token);
        self.shaper = Some(shaper);
        token
    }

    /// What was chosen last, once, if the request asked for its log-probability.
    pub fn take_chosen(&mut self) -> Option<Chosen> {
        self.shaper.as_mut()?.take()
    }

    fn choose_from(&mut self, logits: &[f32], seen: &[u32]) -> u32 {
        if self.greedy {
            return argmax(logits);
        }
        self.sampler.choose(logits, seen, self.rng.uniform())
    }
}

/// Whether a sampler can do what is asked.
///
/// # Errors
/// If an option is out of range; the message names it.
pub fn check_sampling(options: &SamplerOptions) -> Result<()> {
    let SamplerOptions { temperature, top_p, min_p, repetition_penalty, .. } = *options;
    let checks = [
        ("temperature", temperature, temperature >= 0.0, "a number from 0 on"),
        ("top_p", top_p, top_p > 0.0 && top_p <= 1.0, "a number above 0 and at most 1"),
        ("min_p", min_p, (0.0..=1.0).contains(&min_p), "a number from 0 to 1"),
        ("repetition_penalty", repetition_penalty, repetition_penalty > 0.0, "a number above 0"),
    ];
    for (name, value, valid, expected) in checks {
        ensure!(value.is_finite() && valid, "{name}: found {value}, expected {expected}");
    }
    Ok(())
}

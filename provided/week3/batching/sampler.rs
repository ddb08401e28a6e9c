//! How a request's tokens are chosen: week 1's steps and draws, without sorting the
//! vocabulary.

use tiny_llm_kernels::sampling as fast;

use crate::week1::{
    generate::argmax,
    sampling::{Rng, SamplerOptions},
};
use crate::week3::extras::{Chosen, Shaper};

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
        Self {
            greedy: options.is_greedy(),
            sampler: fast::Sampler::new(options),
            rng: Rng::new(seed),
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

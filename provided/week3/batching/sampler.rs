//! Chooses a request's tokens in the same steps and with the same random numbers as week 1, but
//! without sorting the vocabulary.

use tiny_llm_kernels::sampling as fast;

use crate::week1::{
    generate::argmax,
    sampling::{Rng, SamplerOptions},
};
use crate::week3::extras::{Chosen, Shaper};

/// A request's sampling options and random number generator. Each request has its own generator, so
/// that its choices don't depend on other requests.
#[derive(Debug, Clone)]
pub struct Sampler {
    sampler: fast::Sampler,
    rng: Rng,
    /// Whether the sampler always chooses the token with the largest logit.
    greedy: bool,
    /// The request's penalties and log-probabilities, if any.
    shaper: Option<Box<Shaper>>,
}

impl Sampler {
    /// Creates a sampler whose random numbers are determined by `seed`.
    #[must_use]
    pub fn new(options: SamplerOptions, seed: u64) -> Self {
        Self {
            greedy: options.is_greedy(),
            sampler: fast::Sampler::new(options),
            rng: Rng::new(seed),
            shaper: None,
        }
    }

    /// Sets the request's extra options: penalties and log-probabilities.
    pub fn shape(&mut self, shaper: Option<Box<Shaper>>) {
        self.shaper = shaper;
    }

    /// Chooses the next token from `logits [V]`. `seen` holds all tokens so far, including the
    /// prompt's.
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

    /// Removes and returns the log-probability of the last chosen token, if the request asked for
    /// it. Later calls return `None` until another token is chosen.
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

//! The engine of each week, behind what the command line asks for.

mod finite;
pub(crate) mod week1;
pub(crate) mod week2;
mod written;

use tiny_llm::week1::sampling::{Rng, Sampler, SamplerOptions};
use tiny_llm_cli::Sampling;

/// A sampler of day 7 with these settings.
fn sampler(sampling: &Sampling) -> Sampler {
    let Sampling { temperature, top_k, top_p, min_p, repetition_penalty, seed } = *sampling;
    Sampler {
        options: SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty },
        rng: Rng::new(seed),
    }
}

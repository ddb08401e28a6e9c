//! `tiny-llm`, the command line. It hands the functions of this crate — yours, or with the feature `reference`
//! ours — to the kit, which knows nothing of either.

use std::{collections::HashSet, ops::ControlFlow, path::Path, process::ExitCode};

use anyhow::Result;
use ndarray::{Array2, Axis};
use tiny_llm::week1::{
    activations,
    chat::chatml,
    generate::{self, Limits, argmax, generate, next_token_logits},
    model::Model,
    sampling::{Rng, Sampler, SamplerOptions},
    stream::TextStream,
    weights::load_model,
};
use tiny_llm_kit::{
    Tensor,
    chat::Message,
    cli::{self, Engine, FinishReason, Request},
    config::ModelConfig,
};

fn main() -> ExitCode {
    cli::main::<Week1>()
}

/// Nothing cached: each new token is one forward pass over all tokens so far.
struct Week1 {
    model: Model,
}

impl Engine for Week1 {
    type TextStream = TextStream;

    fn load(folder: &Path) -> Result<Self> {
        Ok(Self { model: load_model(folder)? })
    }

    fn config(&self) -> &ModelConfig {
        &self.model.config
    }

    fn check(&self, tokens: &[u32]) -> Result<()> {
        self.model.check(tokens)
    }

    fn logits(&self, tokens: &[u32]) -> Tensor {
        // (1, L, V) -> (L, V)
        self.model.forward(&batch_of_one(tokens)).index_axis_move(Axis(0), 0)
    }

    fn activations(&self, tokens: &[u32], each: &mut dyn FnMut(&str, &Tensor)) {
        activations::activations(&self.model, &batch_of_one(tokens), each);
    }

    fn tasks_of(activation: &str) -> &'static [&'static str] {
        activations::tasks_of(activation)
    }

    fn generate(&self, request: &Request, on_token: &mut dyn FnMut(u32) -> ControlFlow<()>) -> Result<FinishReason> {
        let limits = Limits {
            max_new_tokens: request.max_new_tokens,
            context: self.model.config.max_positions,
            stop_tokens: HashSet::from_iter(request.stop_tokens.iter().copied()),
        };
        let next_logits = |tokens: &[u32]| next_token_logits(&self.model, tokens);
        let finish = if request.sampling.is_greedy() {
            // Day 6 is enough for this; sampling comes on day 7.
            generate(next_logits, &request.prompt, &limits, |logits, _| argmax(logits), on_token)
        } else {
            let mut sampler = sampler(&request.sampling);
            generate(next_logits, &request.prompt, &limits, |logits, seen| sampler.choose(logits, seen), on_token)
        };
        Ok(match finish? {
            generate::FinishReason::Stop => FinishReason::Stop,
            generate::FinishReason::Length => FinishReason::Length,
            generate::FinishReason::ContextFull => FinishReason::ContextFull,
            generate::FinishReason::Interrupted => FinishReason::Interrupted,
        })
    }

    fn push(stream: &mut TextStream, bytes: &[u8]) -> String {
        stream.push(bytes)
    }

    fn finish(stream: &mut TextStream) -> String {
        stream.finish()
    }

    fn chatml(messages: &[Message]) -> String {
        chatml(messages, true)
    }
}

fn batch_of_one(tokens: &[u32]) -> Array2<u32> {
    Array2::from_shape_fn((1, tokens.len()), |(_, l)| tokens[l])
}

fn sampler(sampling: &cli::Sampling) -> Sampler {
    let cli::Sampling { temperature, top_k, top_p, min_p, repetition_penalty, seed } = *sampling;
    Sampler { options: SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty }, rng: Rng::new(seed) }
}

//! Generates the story that `cargo course start` prints, with week 1's engine and the model in
//! `models/tiny-story`: `cargo run --release -p tiny-llm-reference --features story --bin story`.
//!
//! The program takes no arguments, because compiling an argument parser and a template engine would
//! take most of the first build's time.

use std::{
    collections::HashSet,
    io::{Write, stdout},
    ops::ControlFlow,
    path::Path,
    time::Instant,
};

use anyhow::Result;
use tiny_llm_formats::text::Tokenizer;
use tiny_llm_reference::week1::{
    generate::{Limits, generate, next_token_logits},
    sampling::{Rng, Sampler, SamplerOptions},
    stream::TextStream,
    weights::load_model,
};

const MODEL: &str = "models/tiny-story";
const PROMPT: &str = "Once upon a time";
const NEW_TOKENS: usize = 130;
/// Seed of the random number generator, chosen because this story ends within `NEW_TOKENS` tokens.
const SEED: u64 = 14;

fn main() -> Result<()> {
    let folder = Path::new(MODEL);
    let tokenizer = Tokenizer::from_folder(folder)?;
    let model = load_model(folder)?;
    let prompt = tokenizer.encode_prompt(PROMPT)?;
    let limits = Limits {
        max_new_tokens: NEW_TOKENS,
        context: model.config.max_positions,
        stop_tokens: HashSet::from_iter(model.config.eos_token_ids.iter().copied()),
    };
    let options = SamplerOptions { temperature: 0.8, ..SamplerOptions::default() };
    let mut sampler = Sampler { options, rng: Rng::new(SEED) };

    let (start, mut tokens) = (Instant::now(), 0);
    let mut stream = TextStream::default();
    write(PROMPT);
    generate(
        |tokens| next_token_logits(&model, tokens),
        &prompt,
        &limits,
        |logits, seen| sampler.choose(logits, seen),
        |token| {
            tokens += 1;
            write(&stream.push(&tokenizer.token_bytes(token)));
            ControlFlow::Continue(())
        },
    )?;
    write(&stream.finish());
    let rate = f64::from(tokens) / start.elapsed().as_secs_f64();
    println!("\n\n{tokens} tokens, {rate:.0} tokens/s");
    Ok(())
}

/// Writes `text` and flushes, so that it appears immediately. Ignores errors, because the program
/// that reads this output through a pipe may have exited.
fn write(text: &str) {
    let mut out = stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

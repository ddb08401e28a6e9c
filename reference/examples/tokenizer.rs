//! Measures the time and memory of a tokenizer:
//! `cargo run --release -p tiny-llm-reference --features engine,text --example tokenizer -- FILE.gguf|tokenizer.json`.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tiny_llm_formats::text::Tokenizer;
use tiny_llm_reference::week2::gguf::Gguf;

const REPETITIONS: usize = 10;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("expected a GGUF file or a tokenizer.json")?;
    let make = || -> Result<(Duration, Duration, Tokenizer)> {
        let start = Instant::now();
        if path.ends_with(".json") {
            let text = std::fs::read_to_string(&path)?;
            let read = start.elapsed();
            let tokenizer = Tokenizer::from_json(&text, &path)?;
            return Ok((read, start.elapsed() - read, tokenizer));
        }
        let gguf = Gguf::open(path.as_ref())?;
        let read = start.elapsed();
        let tokenizer = Tokenizer::from_gguf(&gguf.metadata)?;
        Ok((read, start.elapsed() - read, tokenizer))
    };
    let before = anonymous()?;
    let first = make()?;
    let after = anonymous()?;
    let text = "It's 12:30, and the quick brown fox jumps over the lazy dog's back.\n".repeat(1000);
    let start = Instant::now();
    let ids = first.2.encode(&text)?;
    let encode = start.elapsed();
    let (mut read, mut build) = (first.0, first.1);
    for _ in 1..REPETITIONS {
        let (r, b, _) = make()?;
        (read, build) = (read.min(r), build.min(b));
    }
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    println!("{path}: {} tokens", first.2.vocab_size());
    println!("read     {:8.2} ms first, {:.2} ms best of {REPETITIONS}", ms(first.0), ms(read));
    println!("build    {:8.2} ms first, {:.2} ms best of {REPETITIONS}", ms(first.1), ms(build));
    println!(
        "memory   {:8.2} MB kept, {:.2} MB at most",
        (after.0 - before.0) / 1e6,
        after.1 / 1e6
    );
    println!(
        "encode   {:8.2} MB/s, {} tokens",
        text.len() as f64 / encode.as_secs_f64() / 1e6,
        ids.len()
    );
    Ok(())
}

/// Returns the current anonymous memory of this process, and its peak resident memory, in bytes.
fn anonymous() -> Result<(f64, f64)> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("memory is read off Linux's /proc")?;
    let field = |name: &str| -> Result<f64> {
        let line = status.lines().find(|line| line.starts_with(name)).context("no such field")?;
        Ok(line.split_whitespace().nth(1).context("no number")?.parse::<f64>()? * 1024.0)
    };
    Ok((field("RssAnon:")?, field("VmHWM:")?))
}

//! `cargo course bench week1`: speed and memory of the reference on this machine.
//!
//! It uses two models: the embedded one with a prompt of 64 tokens, and a Llama of SmolLM2-360M's
//! shape with random weights, which is written to `target/` and removed afterwards. Times are
//! printed next to the course's promises, but not asserted. Memory is asserted: after loading, the
//! process's own memory must be little more than the f32 weights. This shows that the file was
//! mapped, and that there is no second copy of it.

use std::{fs, path::Path};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::{folders, machine, week2::engine::Engine};

/// Maximum memory in addition to the weights: code, tokenizer, position tables, and the allocator's
/// overhead.
const BESIDES_WEIGHTS: u64 = 128 << 20;

/// Measures both models and prints a table.
///
/// # Errors
/// If the engine fails, or holds the weights twice.
pub(super) fn bench(root: &Path) -> Result<()> {
    let [folder, _] = folders(root, None)?;
    let engine = Engine::reference(root, &folder)?;
    let large = folder.join("smollm2-360m");
    let _ = fs::remove_dir_all(&large);
    let result = measure_both(&engine, &large.to_string_lossy());
    let _ = fs::remove_dir_all(&large);
    result
}

fn measure_both(engine: &Engine, large: &str) -> Result<()> {
    let measure = |arguments: &[&str]| -> Result<Value> {
        engine.json(&[&["bench", "--json"], arguments].concat())
    };
    let embedded = measure(&["--prompt-tokens", "64", "-n", "32", "--repeat", "3"])?;
    println!("writing a Llama with 360 M random weights ...");
    engine.run(&["synth", "--like", "smollm2-360m", "--out", large])?;
    let llama = measure(&["--model", large, "--prompt-tokens", "8", "-n", "4"])?;

    println!("\nWeek 1, release build, no KV cache, {}:\n", machine());
    println!("{:<38} {:>16} {:>22}", "", "embedded model", "Llama, random weights");
    for (name, row) in ROWS {
        println!("{name:<38} {:>16} {:>22}", row(&embedded), row(&llama));
    }
    println!(
        "\n\
         Promised: the embedded model decodes 30 tokens/s after a prompt of 64 tokens; it decoded \
         {}.",
        tokens_per_second(&embedded, "decode_tokens_per_second")
    );
    for (name, report) in [("the embedded model", &embedded), ("the Llama", &llama)] {
        match report.pointer("/memory_loaded_bytes/own").and_then(Value::as_u64) {
            Some(own) => {
                let weights = number(report, "weight_bytes");
                ensure!(
                    own <= weights + BESIDES_WEIGHTS,
                    "{name}: {} MiB in use after loading, expected the weights' {} MiB and at most \
                     {} MiB more: are the weights in memory twice?",
                    own >> 20,
                    weights >> 20,
                    BESIDES_WEIGHTS >> 20
                );
            }
            None => println!(
                "{name}: memory is not measured on this platform, so a second copy of the file \
                 would not be noticed."
            ),
        }
    }
    Ok(())
}

type Row = (&'static str, fn(&Value) -> String);

const ROWS: [Row; 9] = [
    ("parameters", |r| format!("{:.1} M", number(r, "parameters") as f64 / 1e6)),
    ("prompt + new tokens", |r| {
        format!("{} + {}", number(r, "prompt_tokens"), number(r, "new_tokens"))
    }),
    ("load", |r| format!("{:.2} s", r["load_seconds"].as_f64().unwrap_or(f64::NAN))),
    ("prefill", |r| tokens_per_second(r, "prefill_tokens_per_second")),
    ("decode", |r| tokens_per_second(r, "decode_tokens_per_second")),
    ("file", |r| mib(number(r, "file_bytes"))),
    ("weights in f32", |r| mib(number(r, "weight_bytes"))),
    ("private memory after loading", |r| {
        r.pointer("/memory_loaded_bytes/own")
            .and_then(Value::as_u64)
            .map_or("not measured".into(), mib)
    }),
    ("peak resident, mapped file included", |r| {
        r["memory_peak_bytes"].as_u64().map_or("not measured".into(), mib)
    }),
];

fn number(report: &Value, field: &str) -> u64 {
    report[field].as_u64().unwrap_or(0)
}

fn tokens_per_second(report: &Value, field: &str) -> String {
    report[field].as_f64().map_or("none".to_owned(), |rate| format!("{rate:.1} tokens/s"))
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

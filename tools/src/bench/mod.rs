//! `cargo course bench`: speed and memory on this machine. Nothing is asserted about time.

use std::path::Path;

use anyhow::Result;
use clap::Subcommand;

mod busy;
mod quality;
mod serve;
mod week1;
mod week2;
mod week3;

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Week {
    /// Measure the reference without KV cache: the embedded model and a Llama with 360 M weights
    Week1,
    /// Measure what each part of week 2 gains: cumulative, and with one part left out
    Week2(Box<week2::Options>),
    /// Compare ways to serve many requests (your engine, the reference, llama.cpp if installed)
    Week3(Box<week3::Options>),
    /// Compare the server with llama-server, with the same file and clients
    Serve(Box<serve::Options>),
    /// Measure decoding on 1 and N threads while other programs keep cores busy
    Busy(busy::Options),
    /// Measure each type of `quantize`: size, weight error, perplexity, exact answers
    Quality(quality::Options),
}

/// Measures, and prints a table.
///
/// # Errors
/// If the engine fails.
pub(crate) fn run(root: &Path, week: &Week) -> Result<()> {
    match week {
        Week::Week1 => week1::bench(root),
        Week::Week2(options) => week2::bench(root, options),
        Week::Week3(options) => week3::bench(root, options),
        Week::Serve(options) => serve::bench(root, options),
        Week::Busy(options) => busy::bench(root, options),
        Week::Quality(options) => quality::bench(root, options),
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{cores} cores, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// The same with the processor's name and its units for integers, where the system says them.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let flags = field("flags").unwrap_or_default();
    let units = [("avx2", "AVX2"), ("avx512_vnni", "AVX-512 VNNI"), ("amx_int8", "AMX")];
    let has = |&&(flag, _): &&(&str, &str)| flags.split(' ').any(|word| word == flag);
    let units: Vec<&str> = units.iter().filter(has).map(|(_, name)| *name).collect();
    match field("model name") {
        Some(name) => format!("{}, {name} ({})", machine(), units.join(", ")),
        None => machine(),
    }
}

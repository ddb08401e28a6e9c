//! `cargo course bench`: measures speed and memory on this machine. Times are not asserted.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use clap::Subcommand;
use serde::Serialize;

use crate::process::run_quietly;
use week2::engine::Engine;

mod busy;
mod peers;
mod quality;
mod serve;
mod svg;
mod week1;
mod week2;
mod week3;

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Week {
    /// Measure the reference without KV cache: the embedded model and a 360M Llama
    Week1,
    /// Measure how much each optimization of week 2 gains: add or leave out one at a time
    Week2(Box<week2::Options>),
    /// Compare ways to serve many requests (your engine, the reference, llama.cpp)
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

/// The result of an engine, or why there is none.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Outcome<T> {
    Done(Box<T>),
    Failed { error: String },
}

impl<T> Outcome<T> {
    fn done(&self) -> Option<&T> {
        match self {
            Self::Done(done) => Some(done),
            Self::Failed { .. } => None,
        }
    }
}

/// A row's name, and the results of the reference and of the learner's engine.
type Outcomes<'a, T> = (&'a str, &'a Outcome<T>, Option<&'a Outcome<T>>);

/// Lists why results are missing: each reason once, with its rows.
fn reasons<T>(all: &[Outcomes<'_, T>]) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for &(name, reference, yours) in all {
        for (whose, outcome) in [("reference", Some(reference)), ("yours", yours)] {
            let Some(Outcome::Failed { error }) = outcome else { continue };
            let reason = format!("{whose}: {error}");
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, rows)) => rows.push(name),
                None => reasons.push((reason, vec![name])),
            }
        }
    }
    let which = |rows: Vec<&str>| {
        if rows.len() == all.len() { "every row".to_owned() } else { rows.join("; ") }
    };
    reasons.into_iter().map(|(reason, rows)| format!("\n{reason}\n  ({})\n", which(rows))).collect()
}

/// A model's shape and a file type, such as `tinyllama-1.1b:q4_k_m`.
#[derive(Debug, Clone)]
struct Shape {
    like: String,
    file_type: String,
}

impl std::str::FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (like, file_type) = text.split_once(':').ok_or("expected MODEL:TYPE")?;
        Ok(Self { like: like.to_owned(), file_type: file_type.to_owned() })
    }
}

/// A temporary file with random weights of a shape.
struct Model(PathBuf);

impl Model {
    fn write(engine: &Engine, folder: &Path, shape: &Shape) -> Result<Self> {
        let path = folder.join(format!("{}-{}.gguf", shape.like, shape.file_type));
        let _ = fs::remove_file(&path);
        let out = path.to_string_lossy();
        engine.run(&["synth", "--like", &shape.like, "--type", &shape.file_type, "--out", &out])?;
        Ok(Self(path.clone()))
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Creates the folder for temporary files and the folder for the results.
fn folders(root: &Path, out: Option<&Path>) -> Result<[PathBuf; 2]> {
    let folder = root.join("target/course-bench");
    let both = [folder.clone(), out.map_or(folder, Path::to_owned)];
    for folder in &both {
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be created", folder.display()))?;
    }
    Ok(both)
}

/// Returns the commit of the course.
fn commit(root: &Path) -> String {
    let show = ["show", "--no-patch", "--format=%h of %cs", "HEAD"];
    let shown = run_quietly(Command::new("git").current_dir(root).args(show)).ok();
    let shown = shown.filter(|shown| shown.status.success());
    shown.map_or("commit unknown".to_owned(), |shown| format!("commit {}", shown.output.trim()))
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{cores} cores, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Describes this machine, with the processor's name and integer instructions if the system reports
/// them.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
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

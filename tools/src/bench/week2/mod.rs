//! `cargo course bench week2`: measures how much each part of the week gains on this machine.
//!
//! It uses one model with random weights, and compares the learner's engine with the reference and
//! llama.cpp. First, it adds the parts one by one. Then it leaves out one part at a time. `--peers`
//! compares the finished engine with others instead, in alternating runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::{Args, value_parser};
use serde::Serialize;
use serde_json::json;

use super::{
    Model, Outcome, Shape, commit, folders,
    peers::{self, Peer, Work},
    processor,
};
use crate::progress::Line;
use engine::{Engine, Measured, Run};
use setup::Setup;

mod drawing;
pub(super) mod engine;
mod paired;
mod setup;
mod table;

pub(super) use engine::median;

/// What to measure, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Model whose shape is used
    #[arg(long, value_name = "MODEL", default_value = "smollm2-360m")]
    like: String,
    /// Type of the weights
    #[arg(long = "type", value_name = "TYPE", default_value = "q4_k_m")]
    file_type: String,
    /// Number of engine threads [default: the engine's own default]
    #[arg(short = 'j', long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Tokens of the prompt
    #[arg(long, value_name = "N", default_value = "32", value_parser = value_parser!(u16).range(1..))]
    prompt_tokens: u16,
    /// New tokens after the prompt
    #[arg(short = 'n', long, value_name = "N", default_value = "9", value_parser = value_parser!(u16).range(2..))]
    new: u16,
    /// Approximate seconds per measurement (at least one run, even if longer)
    #[arg(long, value_name = "SECONDS", default_value = "6", value_parser = value_parser!(u16).range(1..))]
    seconds: u16,
    /// Do not measure your engine
    #[arg(long)]
    reference_only: bool,
    /// Folder for week2.json and week2.svg [default: target/course-bench]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    #[command(flatten)]
    peers: peers::Options,
    #[command(flatten)]
    paired: paired::Options,
}

/// One line of the results.
#[derive(Debug, Serialize)]
struct Row {
    /// The part of the week that is added or left out.
    name: &'static str,
    setup: Setup,
    reference: Outcome<Measured>,
    yours: Option<Outcome<Measured>>,
}

/// All results.
#[derive(Debug, Serialize)]
struct Report {
    like: String,
    file_type: String,
    threads: usize,
    prompt_tokens: u16,
    new_tokens: u16,
    machine: String,
    /// Results of adding the parts one by one.
    cumulative: Vec<Row>,
    /// Results of leaving out one part at a time.
    without: Vec<Row>,
    peers: Vec<(&'static str, Measured)>,
    /// The peers' decode speed compared with the memory bandwidth.
    held_back: String,
}

impl Report {
    /// Returns the results of the finished reference.
    fn finished(&self) -> Option<&Measured> {
        self.without.first()?.reference.done()
    }

    /// Describes kernels, threads, attention and cache.
    fn engine(&self) -> Option<&str> {
        self.finished()?.engine.as_deref()
    }

    /// Returns the memory bandwidth with all threads, in bytes per second.
    fn bandwidth(&self) -> Option<f64> {
        self.finished()?.bandwidth_bytes_per_second
    }
}

/// Measures and prints the results.
///
/// # Errors
/// If the reference cannot be built, or a file cannot be written.
pub(super) fn bench(root: &Path, options: &Options) -> Result<()> {
    let [folder, out] = folders(root, options.out.as_deref())?;
    let reference = Engine::reference(root, &folder)?;
    if options.paired.wanted() {
        println!("{}; {}\n", processor(), commit(root));
        return paired::run(&reference, &options.peers.peers, &options.paired, &folder);
    }
    let yours = if options.reference_only { None } else { Engine::learners(root, &folder) };

    let model = |file_type: &str| {
        println!(
            "writing a model of {}'s shape with random weights in {file_type} ...",
            options.like
        );
        let shape = Shape { like: options.like.clone(), file_type: file_type.to_owned() };
        Model::write(&reference, &folder, &shape)
    };
    let (quantized, plain) = (model(&options.file_type)?, model("f16")?);
    let mut measuring = Measuring {
        reference,
        yours,
        options,
        quantized,
        plain,
        threads: 1,
        line: Line::default(),
        held_back: String::new(),
    };
    let full = measuring.row("all of it", Setup::ALL);
    measuring.threads = full.reference.done().and_then(|m| m.threads).unwrap_or(1);
    let cumulative = measuring.rows(&Setup::cumulative());
    let mut without = vec![full];
    without.extend(measuring.rows(&Setup::all_but_one()));
    // If a peer crashes, the other results are still printed.
    let peers = measuring.peers();
    measuring.line.clear();
    let peers = peers.unwrap_or_else(|error| {
        eprintln!("the peers are left out, because a run failed: {error:#}");
        Vec::new()
    });
    let report = Report {
        like: options.like.clone(),
        file_type: options.file_type.clone(),
        threads: measuring.threads,
        prompt_tokens: options.prompt_tokens,
        new_tokens: options.new,
        machine: format!("{}; {}", processor(), commit(root)),
        cumulative,
        without,
        peers,
        held_back: measuring.held_back,
    };

    print!("{}", table::table(&report));
    let (json, svg) = (out.join("week2.json"), out.join("week2.svg"));
    let written = |path: &Path| format!("{} cannot be written", path.display());
    fs::write(&json, format!("{:#}\n", json!(report))).with_context(|| written(&json))?;
    fs::write(&svg, drawing::drawing(&report)).with_context(|| written(&svg))?;
    println!("\nwritten: {}, {}", json.display(), svg.display());
    Ok(())
}

struct Measuring<'a> {
    reference: Engine,
    yours: Option<Engine>,
    options: &'a Options,
    quantized: Model,
    plain: Model,
    threads: usize,
    line: Line,
    held_back: String,
}

impl Measuring<'_> {
    fn rows(&mut self, setups: &[(&'static str, Setup)]) -> Vec<Row> {
        setups.iter().map(|(name, setup)| self.row(name, *setup)).collect()
    }

    /// Returns a run with the sizes that all rows have.
    fn run(&self, model: &Path, arguments: Vec<String>) -> Run {
        let [prompt, new] = [self.options.prompt_tokens, self.options.new].map(usize::from);
        Run { prompt, new, ..Run::new(model, arguments) }
    }

    fn row(&mut self, name: &'static str, setup: Setup) -> Row {
        self.line.show(&format!("measuring: {name}"));
        let model = if setup.quantized { &self.quantized } else { &self.plain };
        let run = self.run(&model.0, setup.arguments(self.options.threads));
        let measure = |engine: &Engine| match engine.measure_for(
            &run,
            f64::from(self.options.seconds),
            setup.cache,
        ) {
            Ok(measured) => Outcome::Done(Box::new(measured)),
            Err(error) => Outcome::Failed { error: format!("{error:#}") },
        };
        Row {
            name,
            setup,
            reference: measure(&self.reference),
            yours: self.yours.as_ref().map(measure),
        }
    }

    /// Measures the peers with the model, the threads and the sizes of the finished engine.
    fn peers(&mut self) -> Result<Vec<(&'static str, Measured)>> {
        let (model, threads) = (&self.quantized.0, self.threads as u16);
        let [prompt, new] = [self.options.prompt_tokens, self.options.new].map(usize::from);
        let peers = &self.options.peers.peers;
        self.line.show("measuring: the peers");
        self.held_back = peers::check(&self.reference, peers, model, threads)?;
        let measure = |peer: &Peer| {
            // As for our engine, the fastest of several runs counts.
            let fastest = |work| -> Result<f64> {
                (0..8)
                    .try_fold(0.0, |most: f64, _| Ok(most.max(peer.best(model, threads, work)?.0)))
            };
            let rates = Measured {
                prefill_tokens_per_second: fastest(Work::Prefill(prompt))?,
                decode_tokens_per_second: Some(fastest(Work::Decode { after: prompt, new })?),
                ..Measured::default()
            };
            Ok((peer.name, rates))
        };
        peers.iter().map(measure).collect()
    }
}

//! `cargo course bench week3`: compares ways to serve many requests on this machine.
//!
//! It serves one load of the embedded model with the learner's engine and with the reference, in
//! these ways: one request at a time, in batches, with continuous batching, with a budget, in
//! pages, with shared prefixes, and with drafts. `--full` adds measurements with the shapes of
//! larger models, compared with llama.cpp.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::{Args, value_parser};
use serde::Serialize;
use serde_json::json;

use super::{Model, Outcome, Shape, commit, folders, peers, processor, week2::engine::Engine};
use crate::progress::Line;
use load::Way;
use served::{Served, in_turns};
use shapes::{Bench, Figure};

mod drafts;
mod drawing;
mod load;
mod served;
mod shapes;
mod table;

/// What to measure, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Number of threads [default: each engine's own default]
    #[arg(short = 'j', long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Runs per configuration (the median is reported)
    #[arg(long, value_name = "N", default_value = "3", value_parser = value_parser!(u16).range(1..))]
    times: u16,
    /// Do not measure your engine
    #[arg(long)]
    reference_only: bool,
    /// Also measure TinyLlama's and SmolLM2-360M's shapes with random weights (30 minutes)
    #[arg(long, conflicts_with = "shape")]
    full: bool,
    /// Also measure this shape, for example tinyllama-1.1b:q4_k_m (repeatable)
    #[arg(long, value_name = "MODEL:TYPE")]
    shape: Vec<Shape>,
    /// New tokens per sequence, for --full and --shape
    #[arg(long, value_name = "N", default_value = "64", value_parser = value_parser!(u16).range(4..))]
    new: u16,
    /// Folder for week3.json and week3.svg [default: target/course-bench]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    #[command(flatten)]
    peers: peers::Options,
}

/// One configuration that serves the load, and its results.
#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    reference: Outcome<Served>,
    yours: Option<Outcome<Served>>,
}

/// All results.
#[derive(Debug, Serialize)]
struct Report {
    machine: String,
    model: String,
    ways: Vec<Row>,
    /// Results other than those in `ways`: headings, each with its figures.
    figures: Vec<(String, Vec<Figure>)>,
    /// Names of the peers, in the order of the results' columns.
    peers: Vec<&'static str>,
    /// The peers' decode speed compared with the memory bandwidth, by file.
    checks: String,
}

impl Report {
    /// Writes both result files to a folder.
    fn write(&self, out: &Path) -> Result<[PathBuf; 2]> {
        let [json, svg] = ["week3.json", "week3.svg"].map(|name| out.join(name));
        let written = |path: &Path| format!("{} cannot be written", path.display());
        fs::write(&json, format!("{:#}\n", json!(self))).with_context(|| written(&json))?;
        fs::write(&svg, drawing::drawing(self)).with_context(|| written(&svg))?;
        Ok([json, svg])
    }
}

/// Measures and prints the results.
///
/// # Errors
/// If the reference cannot be built, or a file cannot be written.
pub(super) fn bench(root: &Path, options: &Options) -> Result<()> {
    let [folder, out] = folders(root, options.out.as_deref())?;
    let reference = Engine::reference(root, &folder)?;
    let yours = if options.reference_only { None } else { Engine::learners(root, &folder) };

    let mut line = Line::default();
    let trace = folder.join("week3.jsonl");
    load::stories(root, &trace)?;
    let models = root.join("models");
    let mut ways = Vec::new();
    for Way { name, mut arguments } in load::ways(&models.join("tiny-story-draft")) {
        line.show(&format!("measuring: {name}"));
        arguments.extend(["--trace".to_owned(), trace.to_string_lossy().into_owned()]);
        arguments.push(format!("-c{}", load::CONTEXT));
        arguments.extend(options.threads.map(|n| format!("-j{n}")));
        let (engines, times) = ([Some(&reference), yours.as_ref()], usize::from(options.times));
        let [reference, yours] = in_turns(engines, &models.join("tiny-story"), &arguments, times);
        let reference = reference.context("the reference was not measured")?;
        ways.push(Row { name, reference, yours });
    }
    let bench = Bench {
        engine: &reference,
        peers: &options.peers.peers,
        folder: &folder,
        threads: options.threads,
        new: usize::from(options.new),
        pairs: usize::from(options.times),
    };
    let model = format!("tiny-story, 24 requests at once, {} slots", load::PLACES);
    let mut report = Report {
        machine: format!("{}; {}", processor(), commit(root)),
        model,
        ways,
        figures: Vec::new(),
        peers: options.peers.peers.iter().map(|peer| peer.name).collect(),
        checks: String::new(),
    };
    line.show("measuring: drafts, one request at a time");
    let how = (options.threads, usize::from(options.times));
    let told = drafts::measure(&reference, root, &folder, how)?;
    report.figures.push(("tiny-story, one request at a time".to_owned(), told));
    let small = folder.join("tiny-story-q8_0.gguf");
    let words =
        [&models.join("tiny-story"), &small].map(|path| path.to_string_lossy().into_owned());
    reference.run(&["quantize", &words[0], &words[1], "--type", "q8_0", "--force"])?;
    report.figures.push(("tiny-story in Q8_0".to_owned(), bench.decode(&small, &mut line)?));
    let shapes = if options.full { shapes::all() } else { options.shape.clone() };
    for shape in &shapes {
        // Measuring a shape takes minutes, so earlier results are written in case a later shape
        // fails.
        report.write(&out)?;
        line.show(&format!("writing a model of {}'s shape", shape.like));
        let model = Model::write(&reference, &folder, shape)?;
        let name = format!("{}'s shape in {}", shape.like, shape.file_type.to_uppercase());
        let checked = bench.check(&model.0)?;
        report.checks.extend(checked.lines().map(|line| format!("{name}: {line}\n")));
        report.figures.push((name, bench.decode(&model.0, &mut line)?));
        report.write(&out)?;
        let more = bench.scheduling(&model.0, &mut line)?;
        report.figures.last_mut().expect("just pushed").1.extend(more);
    }
    line.clear();

    print!("{}", table::table(&report));
    let [json, svg] = report.write(&out)?;
    println!("\nwritten: {}, {}", json.display(), svg.display());
    Ok(())
}

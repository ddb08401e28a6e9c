//! `cargo course trace`: finds the first activation of the learner's model that differs from the
//! reference's.
//!
//! The learner's program and the reference are the same binary with different features, so they run
//! as two processes. The reference writes its activations to a file once, and the file is kept. The
//! learner's program compares its activations with that file, and writes a report line by line, so
//! a crash does not lose earlier lines. This runner links neither program.

mod cache;
mod options;
mod report;

use std::{
    fs,
    path::{Path, absolute},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, ensure};

pub(crate) use self::options::Options;
use self::report::Report;
use crate::{
    curriculum::Curriculum,
    engine::{OURS, YOURS},
    process, progress,
};

/// Folder of the embedded model, relative to the repository.
const MODEL: &str = "models/tiny-story";

/// Runs the learner's program and the reference, and prints how their activations compare. The exit
/// code is 1 unless all activations agree.
///
/// # Errors
/// If something does not compile (rustc's message is printed first), or the reference cannot run on
/// this input.
pub(crate) fn trace(root: &Path, curriculum: &Curriculum, options: &Options) -> Result<ExitCode> {
    // Build the learner's code first: if it does not compile, the message comes sooner.
    progress::build(root, "your engine", &YOURS)?;
    let model = match &options.model {
        // The engine looks up this name.
        Some(name) if !name.exists() => name.clone(),
        Some(folder) => absolute(folder)
            .with_context(|| format!("{} is not the name of a folder", folder.display()))?,
        None => root.join(MODEL),
    };
    let folder = root.join("target/trace");
    fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be created", folder.display()))?;
    let key = cache::key(root, &model, options)?;
    let expected = folder.join(format!("reference-{key:016x}.safetensors"));
    if !expected.is_file() {
        cache::clear(&folder);
        progress::build(root, "the reference engine", &OURS)?;
        let status = engine(root, &OURS, &model, options)
            .arg("--out")
            .arg(&expected)
            .status()
            .context("the reference cannot be started")?;
        ensure!(
            status.success(),
            "the reference cannot run on this input, so there is nothing to compare with"
        );
    }

    let report = folder.join("report.jsonl");
    if report.exists() {
        fs::remove_file(&report)
            .with_context(|| format!("{} cannot be removed", report.display()))?;
    }
    // Runs on this terminal, so that a learner's debugging output is visible.
    let mut yours = engine(root, &YOURS, &model, options);
    let status = yours
        .arg("--against")
        .arg(&expected)
        .arg("--report")
        .arg(&report)
        .status()
        .context("your engine cannot be started")?;
    let text = fs::read_to_string(&report).with_context(|| {
        format!("your engine ended ({status}) before it wrote {}", report.display())
    })?;
    let report = Report::parse(&text)?;
    println!("{}", report.text(curriculum, &options.subject(root, &model)));
    Ok(if report.agrees() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the command `cargo run … -- trace`, with the model and its input.
fn engine(root: &Path, build: &[&str], model: &Path, options: &Options) -> Command {
    let mut command = process::cargo(root);
    command.args(["run", "--quiet"]).args(build).args(["--", "trace", "--model"]).arg(model);
    match &options.tokens {
        Some(tokens) => command.arg("--tokens").arg(tokens),
        None => command.arg("--prompt").arg(options.prompt()),
    };
    command
}

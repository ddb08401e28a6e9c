//! `cargo course start`: looks at the machine, builds the reference, lets it tell a story, names
//! the first open task.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};

use crate::{curriculum::Curriculum, environment, process, progress, status};

/// The build of the command line on the reference solution, as `cargo llm-ref` has it.
pub const BUILD: [&str; 5] = ["--release", "--features", "cli,reference", "--bin", "tiny-llm"];

/// All of it. The first time most of it is the build; later the story begins at once.
pub fn start(root: &Path, curriculum: &Curriculum) -> Result<()> {
    println!("This machine:");
    environment::report(root)?;
    let built = progress::build(root, "the reference engine", &BUILD)?;
    if built > Duration::from_secs(3) {
        println!(
            "Built the reference engine in {:.0} s; the next start is immediate.",
            built.as_secs_f64()
        );
    }

    println!(
        "\nA story from the finished engine (our solution, the model in models/tiny-story):\n"
    );
    let mut story = process::cargo(root);
    story.args(["run", "--quiet"]).args(BUILD).arg("--").args(STORY);
    let status = story.status().context("the engine cannot be started")?;
    ensure!(status.success(), "the engine failed; try `cargo llm-ref {}`", STORY.join(" "));

    println!(
        "\nBy the end of week 1 yours writes like this. Red tests are the beginning: every task fails by its own message.\n"
    );
    status::print_next(root, curriculum)?;
    println!("\n`cargo course` shows where you stand.");
    Ok(())
}

const STORY: [&str; 10] = [
    "generate",
    "--echo",
    "-p",
    "Once upon a time",
    "-n",
    "130",
    "--temperature",
    "0.8",
    "--seed",
    "14",
];

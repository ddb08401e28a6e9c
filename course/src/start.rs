//! `cargo course start`: checks the machine, builds the engine, lets it write a story, and names
//! the first open task.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::{
    curriculum::Curriculum, engine::STORY, environment, estimate, process, progress::Build,
    selection::Words, status,
};

/// Runs `cargo course start`. The first time, the build takes most of the time. Later, the story
/// begins immediately.
pub(crate) fn start(root: &Path, curriculum: &Curriculum) -> Result<()> {
    println!("This machine:");
    environment::report(root)?;
    let name = format!("story{}", std::env::consts::EXE_SUFFIX);
    let built_before = process::target(root).join("release").join(name).is_file();
    let estimate = if built_before { None } else { estimate::of(root, estimate::STORY) };
    if let Some(time) = estimate {
        println!(
            "\nThe first build of the engine takes {} (estimated from a quick measurement of this \
             machine).",
            estimate::words(time)
        );
    }
    let took = Build { what: "the engine", arguments: &STORY, estimate }.run(root)?;
    if !built_before {
        println!("Built in {:.0} s; the next start is immediate.", took.as_secs_f64());
    }

    println!(
        "\nA story from the finished engine (our solution, the model in models/tiny-story):\n"
    );
    let mut story = process::cargo(root);
    let status = story
        .args(["run", "--quiet"])
        .args(STORY)
        .status()
        .context("the engine cannot be started")?;
    ensure!(status.success(), "the engine failed; try `cargo run {}`", STORY.join(" "));

    println!(
        "\nBy the end of week 1, your engine will write stories like this. At first, the tests are \
         red: every task that you haven't written fails with its own message.\n"
    );
    status::print_next(root, curriculum, &Words(Vec::new()))?;
    println!(
        "\nNew to ndarray? Read book/src/week1/arrays.md first (ten minutes). `cargo course` shows \
         your progress."
    );
    Ok(())
}

//! A copy of the repository whose reference holds every body of the bank at once.
//!
//! A region becomes a `match` over a number that the environment gives, so that one build serves
//! all entries.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{
    Entry,
    variants::{VARIABLE, render, without_warnings},
};
use crate::{
    curriculum::{Curriculum, Day},
    pristine::copy_tree,
    process::{cargo, run_quietly},
    processor::Emulation,
    stubs::generated,
};

/// The copy, built.
#[derive(Debug)]
pub(super) struct Bank {
    tree: PathBuf,
    /// `week1_day3` → its test program.
    programs: BTreeMap<String, PathBuf>,
    /// What runs them, if it is not this machine's processor.
    emulation: Option<Emulation>,
}

impl Bank {
    /// Copies, writes the variants and builds the tests of the entries' days. Entry `i` has the
    /// number `i + 1`.
    ///
    /// # Errors
    /// If something does not compile; the compiler's text names the entry's file in a comment
    /// beside the body.
    pub(super) fn build(
        root: &Path,
        curriculum: &Curriculum,
        entries: &[Entry],
        emulation: Option<Emulation>,
    ) -> Result<Self> {
        let tree = root.join("target/verify/bank");
        let mut instead = BTreeMap::new();
        let variants = super::variants(curriculum, entries)?;
        for file in generated(root, curriculum)? {
            let text = render(&file, &variants);
            instead.insert(Path::new("reference").join(&file.path), text.into_bytes());
        }
        let library = without_warnings(&root.join("reference/src/lib.rs"))?;
        instead.insert("reference/src/lib.rs".into(), library.into_bytes());
        copy_tree(root, curriculum, &tree, instead)?;
        let with_entries =
            |day: &&Day| entries.iter().any(|entry| entry.task.feature == day.feature);
        let days: Vec<_> = curriculum.days().filter(with_entries).collect();
        let programs = build(root, &tree, &days, emulation.as_ref(), Some("fresh"))?;
        Ok(Self { tree, programs, emulation })
    }

    /// A run of the tests of a day whose name contains `filter`, with the entry of that number.
    pub(super) fn command(&self, module: &str, filter: &str, number: usize) -> Result<Command> {
        let mut command = self.program(module, number)?;
        command.arg(filter);
        Ok(command)
    }

    /// The test program of a day with the entry of that number; 0 is the reference's own.
    pub(super) fn program(&self, module: &str, number: usize) -> Result<Command> {
        let program =
            self.programs.get(module).with_context(|| format!("{module} has no test program"))?;
        let mut command = match &self.emulation {
            Some(emulation) => emulation.run(program, "max"),
            None => Command::new(program),
        };
        command
            .current_dir(&self.tree)
            .env(VARIABLE, number.to_string())
            .env_remove("RUST_BACKTRACE");
        // Entries run side by side, and one test after the other, so that the answers always come
        // in the same order.
        command.env("RUST_TEST_THREADS", "1");
        // Wrong answers are recorded as Mesa's software gives them, on every machine alike.
        command.env("TINY_LLM_GPU", "software");
        // All bodies of a function share its stack frame, each with its own buffers.
        command.env("RUST_MIN_STACK", (64 << 20).to_string());
        Ok(command)
    }

    /// Its folder.
    pub(super) fn tree(&self) -> &Path {
        &self.tree
    }
}

/// Builds the test programs, with one `more` feature beside their own, and says where they are.
pub(crate) fn build(
    root: &Path,
    tree: &Path,
    days: &[&Day],
    emulation: Option<&Emulation>,
    more: Option<&str>,
) -> Result<BTreeMap<String, PathBuf>> {
    let features: Vec<&str> =
        days.iter().map(|day| day.feature.as_str()).chain(["reference"]).chain(more).collect();
    let mut command = match emulation {
        Some(emulation) => emulation.cargo(tree, "test", "max")?,
        None => {
            let mut command = cargo(tree);
            command.arg("test");
            command
        }
    };
    command.args([
        "--no-run",
        "--message-format",
        "json-render-diagnostics",
        "--features",
        &features.join(","),
    ]);
    for day in days {
        command.args(["--test", &day.module()]);
    }
    // The build folder is shared for the libraries' sake. Cargo takes two copies of one workspace
    // for the same, and would run what it built in the other; crates with settings of their own are
    // others, and so is all that uses them.
    for package in
        ["tiny-llm-formats", "tiny-llm-kernels", "tiny-llm-harness", "tiny-llm-reference"]
    {
        command.args(["--config", &format!("profile.dev.package.{package}.debug=false")]);
    }
    // Nearly all that the tests do is in the reference, and in what it takes from ndarray.
    for package in ["ndarray", "tiny-llm-kernels", "tiny-llm-reference"] {
        command.args(["--config", &format!("profile.dev.package.{package}.opt-level=1")]);
    }
    let folder = if emulation.is_some() { "target/verify/arm" } else { "target/verify/build" };
    command.env("CARGO_TARGET_DIR", root.join(folder));
    let finished = run_quietly(&mut command)?;
    // Cargo's messages are lines of JSON, the compiler's text is not.
    let said: Vec<&str> = finished.text.lines().filter(|line| !line.starts_with('{')).collect();
    ensure!(finished.status.success(), "the bank does not compile:\n{}", said.join("\n"));
    let mut programs = BTreeMap::new();
    for message in finished.text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        if let (Some(name), Some(program)) =
            (message["target"]["name"].as_str(), message["executable"].as_str())
        {
            programs.insert(name.to_owned(), PathBuf::from(program));
        }
    }
    Ok(programs)
}

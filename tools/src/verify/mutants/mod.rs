//! Makes small changes to the taught code. Some day's tests must detect each of them.
//!
//! cargo-mutants lists the changes. `.cargo/mutants.toml` selects the files, and excludes each
//! change that makes no difference, with a reason. Building each change separately would take a
//! day. So all changes in the marked regions are added to one copy of the reference, where a
//! variable selects one of them, as for the bank's mistakes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use self::{
    list::Mutant,
    plant::{mutant_at, planted},
};
use super::context::{Outcome, Verification, succeeds};
use crate::{
    bank::matrix::{each, tests_within},
    curriculum::{Day, Task},
    libtest::task_of_test,
    pristine::copy_tree,
    process::{cargo, run_quietly},
    proof::{self, Program, VARIANT, without_warnings},
    stubs::generated,
};

mod list;
mod plant;

/// Pinned version of cargo-mutants, because other versions propose other changes.
const VERSION: &str = "27.1.0";

/// Time limit for the tests of a day with a mutant. A mutant that takes longer counts as endless,
/// for example because of a deadlock.
const LIMIT: Duration = Duration::from_secs(60);

/// Installs cargo-mutants in `target/`, and tries each of its changes that is in a marked region.
pub(super) fn mutants(v: &Verification) -> Result<Outcome> {
    let tool = installed(v)?;
    let listed = listed(&tool, &v.root)?;

    let mut mutants = Vec::new();
    for file in generated(&v.root, &v.curriculum)? {
        let text = fs::read_to_string(v.root.join("reference").join(&file.path))?;
        mutants.extend(list::of_file(&file, &text, &listed)?);
    }
    ensure!(!mutants.is_empty(), "no mutant is in a marked region");
    println!("{} mutants, {} of them in marked regions", listed.len(), mutants.len());
    let all = mutants.len();
    // No program here contains tasks for other processors.
    mutants.retain(|mutant| v.curriculum.task(&mutant.task).is_ok_and(Task::is_for_here));
    let elsewhere = all - mutants.len();
    let copy = Copy { root: &v.root, tree: v.root.join("target/verify/mutants") };
    let unviable = copy.plant(v, &mutants)?;
    let viable: Vec<(usize, &Mutant)> =
        numbered(&mutants).filter(|(number, _)| !unviable.contains(number)).collect();
    println!("{} mutants do not compile", unviable.len());

    let days: Vec<&Day> = v.curriculum.days().collect();
    let program = Program::build(copy.root, &copy.tree, &days, None)?;
    for day in &days {
        without_mutant(day, &program)?;
    }
    let fates = each(&viable, |_, (number, mutant)| fate(*number, mutant, &days, &program))?;
    let count = |wanted: Fate| fates.iter().filter(|fate| **fate == wanted).count();
    let (caught, endless) = (count(Fate::Caught), count(Fate::Endless));
    let missed: Vec<&str> = viable
        .iter()
        .zip(&fates)
        .filter(|(_, fate)| **fate == Fate::Missed)
        .map(|((_, mutant), _)| mutant.name.as_str())
        .collect();
    let note = format!(
        "{} of {} viable mutants caught ({endless} by running forever); {} do not compile, \
         {elsewhere} are for another processor",
        caught + endless,
        viable.len(),
        unviable.len()
    );
    println!("{note}");
    Ok(if missed.is_empty() {
        Outcome::Passed(note)
    } else {
        println!("missed:\n{}", missed.join("\n"));
        Outcome::Failed(format!("{note}\n{}", missed.join("\n")))
    })
}

/// Installs the tool in `target/` unless it is there. Returns its path.
fn installed(v: &Verification) -> Result<PathBuf> {
    let tools = v.root.join("target/verify/tools");
    let tool = tools.join("bin/cargo-mutants");
    let is_there = run_quietly(Command::new(&tool).args(["mutants", "--version"]))
        .is_ok_and(|finished| finished.output.trim().ends_with(VERSION));
    if !is_there {
        let mut install = v.cargo("install cargo-mutants --locked --quiet --version");
        succeeds(install.arg(VERSION).arg("--root").arg(&tools))?;
    }
    Ok(tool)
}

/// Returns the changes that the tool proposes.
fn listed(tool: &Path, root: &Path) -> Result<Vec<Value>> {
    let mut command = Command::new(tool);
    command.args(["mutants", "--list", "--json", "--package", "tiny-llm-reference"]);
    let finished = run_quietly(command.current_dir(root))?;
    ensure!(finished.status.success(), "cargo-mutants lists nothing:\n{}", finished.tail(20));
    serde_json::from_str(&finished.output).context("cargo-mutants' list is not JSON")
}

fn numbered(mutants: &[Mutant]) -> impl Iterator<Item = (usize, &Mutant)> {
    mutants.iter().enumerate().map(|(i, mutant)| (i + 1, mutant))
}

/// The result of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Caught,
    Endless,
    Missed,
}

/// The copy of the repository whose reference contains the mutants.
struct Copy<'a> {
    root: &'a Path,
    tree: PathBuf,
}

impl Copy<'_> {
    /// Writes the copy without the mutants that do not compile. Returns the numbers of those
    /// mutants.
    fn plant(&self, v: &Verification, mutants: &[Mutant]) -> Result<BTreeSet<usize>> {
        let mut unviable = BTreeSet::new();
        // One attempt isn't enough: the compiler checks lifetimes only once all types are right,
        // for example.
        for _ in 0..12 {
            let mut files: BTreeMap<String, String> = BTreeMap::new();
            let mut instead = proof::frame(&v.root, &v.curriculum)?;
            for file in generated(&v.root, &v.curriculum)? {
                let path = format!("reference/{}", file.path);
                let text = fs::read_to_string(v.root.join(&path))?;
                let start = format!("{path}:");
                let of_file: Vec<(usize, &Mutant)> = numbered(mutants)
                    .filter(|(number, mutant)| {
                        mutant.name.starts_with(&start) && !unviable.contains(number)
                    })
                    .collect();
                let text = planted(&text, &of_file);
                instead.insert(PathBuf::from(&path), text.clone().into_bytes());
                files.insert(file.path, text);
            }
            let library = without_warnings(&v.root.join("reference/src/lib.rs"))?;
            instead.insert("reference/src/lib.rs".into(), library.into_bytes());
            copy_tree(&v.root, &v.curriculum, &self.tree, instead)?;
            let refused = self.refused(&files)?;
            if refused.is_empty() {
                return Ok(unviable);
            }
            unviable.extend(refused);
        }
        bail!("after 12 rounds of removing mutants, the remaining mutants do not compile");
    }

    /// Returns the numbers of the mutants in the copy that the compiler rejects.
    fn refused(&self, files: &BTreeMap<String, String>) -> Result<BTreeSet<usize>> {
        let mut command = cargo(&self.tree);
        command.args(["check", "--package", "tiny-llm-reference", "--all-features"]);
        command.args(["--message-format", "json"]);
        command.env("CARGO_TARGET_DIR", self.root.join("target/verify/build"));
        let finished = run_quietly(&mut command)?;
        let mut refused = BTreeSet::new();
        for line in finished.text.lines().filter(|line| line.starts_with('{')) {
            let Ok(json) = serde_json::from_str::<Value>(line) else { continue };
            let message = &json["message"];
            if message["level"] != "error" {
                continue;
            }
            for span in message["spans"].as_array().into_iter().flatten() {
                let path = span["file_name"].as_str().unwrap_or_default();
                let file = files.get(path.strip_prefix("reference/").unwrap_or(path));
                let line = span["line_start"].as_u64().and_then(|line| line.try_into().ok());
                let mutant = file.zip(line).and_then(|(text, line)| mutant_at(text, line));
                refused.extend(mutant.filter(|_| span["is_primary"] == true));
            }
        }
        ensure!(
            finished.status.success() || !refused.is_empty(),
            "the mutants do not compile, but no error is in a mutant:\n{}",
            finished.tail(40)
        );
        Ok(refused)
    }
}

/// Checks that all tests pass without a mutant. Otherwise a failing test would prove nothing.
fn without_mutant(day: &Day, program: &Program) -> Result<()> {
    let ran = tests_within(&mut command(0, day, None, program)?, 10 * LIMIT)?;
    let red: Vec<&str> = ran.red().collect();
    ensure!(
        ran.ended && red.is_empty() && !ran.report.passed.is_empty(),
        "{}: tests do not pass without a mutant: {}",
        day.feature,
        red.join(", ")
    );
    Ok(())
}

/// Returns a command that runs a day's tests, or only those of `task`, with the mutant `number`.
fn command(number: usize, day: &Day, task: Option<usize>, program: &Program) -> Result<Command> {
    let wanted =
        |name: &str| task_of_test(name).is_some_and(|found| task.is_none_or(|task| task == found));
    let tests = program.tests(&day.module(), wanted);
    let mut command = limited(tests.with_context(|| format!("{} has no tests", day.feature))?);
    command.env(VARIANT, number.to_string()).env("RUST_TEST_THREADS", "1");
    Ok(command)
}

/// Tries a mutant first with its task's tests, then with the tests of its day and of the following
/// days.
fn fate(number: usize, mutant: &Mutant, days: &[&Day], program: &Program) -> Result<Fate> {
    let own = days.iter().position(|day| day.feature == mutant.task.feature);
    let own = own.with_context(|| format!("{} is not a day", mutant.task.feature))?;
    let first = [(days[own], Some(mutant.task.task))];
    for (day, task) in first.into_iter().chain(days[own..].iter().map(|day| (*day, None))) {
        // If a program crashes, the mutant counts as detected, too.
        match tests_within(&mut command(number, day, task, program)?, LIMIT) {
            Ok(ran) if !ran.ended => return Ok(Fate::Endless),
            Ok(ran) if ran.red().next().is_none() => {}
            _ => return Ok(Fate::Caught),
        }
    }
    Ok(Fate::Missed)
}

/// Limits a program to 4 GiB of memory and 20 s of processor time, if the system supports that. An
/// endless loop may allocate memory, and on a busy machine elapsed time is not reliable.
fn limited(program: Command) -> Command {
    if cfg!(windows) {
        return program;
    }
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4194304; ulimit -t 20; exec \"$0\" \"$@\""]);
    command.arg(program.get_program()).args(program.get_args());
    if let Some(folder) = program.get_current_dir() {
        command.current_dir(folder);
    }
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

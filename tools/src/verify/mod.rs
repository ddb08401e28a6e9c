//! `cargo course verify`: every promise of this repository, checked, with one closing table.
//!
//! Everything runs in a pristine copy under `target/verify`, whose `src/` is generated anew: so a
//! learner's work neither matters nor is touched. A step passes, fails, or is *not verified* with
//! its reason; what could not run never counts as passed. The exit code is 1 if a step failed.
//! Durations are reported and never asserted: a promise of the course that this machine misses by
//! more than machines differ is shown as *missed*, which is no failure.

use std::{
    fmt::Write as _,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

pub(crate) use self::context::Options;
use self::context::{Outcome, Verification};
use crate::{curriculum::Curriculum, environment::free_kib};

mod arm;
mod bare;
mod book;
mod browser;
mod budget;
mod cluster;
mod context;
mod cpu;
mod elsewhere;
mod engine;
mod fuzz;
mod grade;
mod latency;
mod memory;
mod mutants;
mod packages;
mod planted;
mod promise;
mod python;
mod replay;
mod rust;
mod server;
mod targets;
mod threads;
mod tree;
mod waiting;

type Step = (&'static str, fn(&mut Verification) -> Result<Outcome>);

/// Every step, in order. Later ones use what earlier ones made: the pristine copy, the Python
/// environment.
const STEPS: [Step; 39] = [
    ("stubs: src/ is generated from reference/", rust::stubs),
    ("curriculum: features, tests, oracle, book agree", rust::curriculum),
    ("pristine copy", tree::copy),
    ("start: environment, story, first task", engine::start),
    ("locks: no command waits for a build it does not need", waiting::locks),
    ("libraries: none is built twice", waiting::libraries),
    ("formatting", rust::formatting),
    ("documentation", rust::documentation),
    ("clippy", rust::clippy),
    ("unit tests of ground floor, runner, book builder", rust::unit_tests),
    ("cargo test alone is green and says how to start", rust::test_alone),
    ("replay: every task red by its own message, then green", replay::replay),
    ("reference: every day green", rust::reference),
    ("misconceptions: every mistake caught and named", rust::misconceptions),
    ("mutants: every small change is noticed", mutants::mutants),
    ("memory: the reference under AddressSanitizer", memory::memory),
    ("threads: every order of their steps", threads::every_order),
    ("threads: nothing that Rust does not define", threads::undefined),
    ("Arm: NEON kernels, with and without dot product", arm::neon),
    ("targets: compiles for Apple, Windows and 32-bit Arm", targets::compile),
    ("targets: tests for Windows, under Wine", targets::windows),
    ("bare: the streamed model on a chip, under QEMU", bare::bare),
    ("fuzz: no bytes break a reader", fuzz::fuzz),
    ("first day: cold build, edit to verdict", budget::first_day),
    ("runner: cold build, list, save to verdict", latency::runner),
    ("command line: bad input, missing tasks", engine::command_line),
    ("trace: names the task of a planted mistake", planted::trace),
    ("speed and memory", engine::bench),
    ("grade: honest, broken and hostile submissions", grade::grade),
    ("book: builds", book::build),
    ("book: every command runs", book::commands),
    ("Python: environment", python::environment),
    ("Python: fixtures are what PyTorch gives today", python::oracle),
    ("server: clients, good and bad; curl and openai", server::server),
    ("browser: the book's pages and the server's", browser::browser),
    ("Python: bridge, and pytest on the reference", python::bridge),
    ("cluster: replicas on two nodes, by Ray", cluster::cluster),
    ("Python: embedded models, figures", python::models),
    ("no tracked file was modified", tree::unmodified),
];

/// Runs the steps and prints the table.
///
/// # Errors
/// If the terminal is gone; failures of steps are in the exit code.
pub(crate) fn verify(root: &Path, curriculum: Curriculum, options: Options) -> Result<ExitCode> {
    let mut verification = Verification {
        root: root.to_owned(),
        tree: root.join("target/verify/tree"),
        curriculum,
        python: Err("the step that makes its environment did not run".to_owned()),
        status_before: tree::git_status(root),
        options,
    };
    if verification.options.only.is_none() {
        room(root, &verification.options)?;
    }
    let start = Instant::now();
    let mut rows = Vec::new();
    for (number, (name, step)) in STEPS.iter().enumerate() {
        let chosen =
            verification.options.only.as_ref().is_none_or(|words| name.contains(words.as_str()));
        // The copy is what the others run in.
        let (step_start, spent) = (Instant::now(), cpu::spent());
        let outcome = if chosen || *name == "pristine copy" {
            println!("\n== {}/{}: {name}", number + 1, STEPS.len());
            step(&mut verification).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
        } else {
            Outcome::NotVerified("left out by --only".to_owned())
        };
        if let Outcome::Failed(reason) = &outcome {
            println!("FAILED: {reason}");
        }
        let (clock, processor) = (step_start.elapsed(), cpu::since(spent));
        rows.push(Row { name, outcome, clock, processor });
    }
    println!("\n{}", table(&rows, start.elapsed()));
    let failed = rows.iter().any(|row| matches!(row.outcome, Outcome::Failed(_)));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What a full disk leaves behind is a linker that dies of a bus error, so this is said first.
///
/// # Errors
/// If the disk has too little room for what the steps build and install.
fn room(root: &Path, options: &Options) -> Result<()> {
    let builds = if root.join("target/verify/build").is_dir() { 6 } else { 22 };
    let packages = if options.no_python || root.join(".venv").is_dir() { 0 } else { 6 };
    let needed: u64 = builds + packages;
    match free_kib(root) {
        Some(free) if free >> 20 < needed => bail!(
            "verification needs {needed} GiB on the disk of {}, of which {:.1} are free: {builds} \
             for what it builds, {packages} for Python's packages",
            root.display(),
            free as f64 / f64::from(1 << 20)
        ),
        _ => Ok(()),
    }
}

/// A step that is over.
struct Row {
    name: &'static str,
    outcome: Outcome,
    clock: Duration,
    /// Where the system tells.
    processor: Option<Duration>,
}

fn table(rows: &[Row], total: Duration) -> String {
    let mut text = format!("Verification:\n{:<14}{:>9}  {:>9}\n", "", "clock", "processor");
    let mut counts = [0; 4];
    for Row { name, outcome, clock, processor } in rows {
        let (kind, note) = match outcome {
            Outcome::Passed(note) => (0, note),
            Outcome::Missed(note) => (1, note),
            Outcome::Failed(note) => (2, note),
            Outcome::NotVerified(note) => (3, note),
        };
        counts[kind] += 1;
        let mark = MARKS[kind];
        let note = note.lines().next().unwrap_or_default();
        let clock = format!("{:.1} s", clock.as_secs_f64());
        let processor = processor.map_or("-".into(), |time| format!("{:.1} s", time.as_secs_f64()));
        let _ = writeln!(text, "  {mark:<12}{clock:>9}  {processor:>9}  {name:<55}  {note}");
    }
    let counts: Vec<String> =
        counts.iter().zip(MARKS).map(|(count, mark)| format!("{count} {mark}")).collect();
    let processor: Option<Duration> = rows.iter().map(|row| row.processor).sum();
    let _ = write!(text, "{}, in {:.0} s", counts.join(", "), total.as_secs_f64());
    if let Some(time) = processor {
        let _ = write!(text, ", {:.0} s of processor time", time.as_secs_f64());
    }
    text + "."
}

/// How the table shows each kind of outcome.
const MARKS: [&str; 4] = ["passed", "MISSED", "FAILED", "NOT VERIFIED"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_calls_nothing_passed_that_did_not_run_or_was_missed() {
        let row = |name, outcome| Row {
            name,
            outcome,
            clock: Duration::from_secs(1),
            processor: Some(Duration::from_secs(2)),
        };
        let text = table(
            &[
                row("a", Outcome::Passed("3 tests".into())),
                row("b", Outcome::NotVerified("--no-python".into())),
                row("c", Outcome::Failed("line one\nline two".into())),
                row("d", Outcome::Missed("MISSED: 61 s (promised 40)".into())),
            ],
            Duration::from_secs(4),
        );
        for line in [
            "  NOT VERIFIED    1.0 s      2.0 s  b",
            "  MISSED          1.0 s      2.0 s  d",
            "  passed          1.0 s      2.0 s  a",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(text.contains("line one") && !text.contains("line two"), "{text}");
        let closing =
            "1 passed, 1 MISSED, 1 FAILED, 1 NOT VERIFIED, in 4 s, 8 s of processor time.";
        assert!(text.ends_with(closing), "{text}");
    }
}

//! `cargo course matrix`: tries the whole bank (known mistakes and correct alternatives), and
//! records the answers.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Result, ensure};
use clap::Args;
use course::explain::counted;

use super::{
    Entry, Kind, data,
    matrix::{self, Matrix},
    tree::Bank,
};
use crate::{
    curriculum::{Curriculum, Task},
    files::write_atomically,
    processor::{Emulation, PROCESSORS, Processor},
};

/// The options of `cargo course matrix`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Use the mistakes in tests/held-out: tests must fail for each, without a wrong diagnosis
    #[arg(long)]
    unseen: bool,
    /// Run only these days, for example week1-day3
    days: Vec<String>,
}

/// Minimum distance of a task's nearest wrong answer from the right one, as a multiple of the
/// tolerance.
const NEAREST: f64 = 20.0;

/// Runs `cargo course matrix`: tries each body of the bank with the tests. Then records the wrong
/// answers.
///
/// # Errors
/// If an entry is malformed, no test fails with it, its diagnosis is wrong or missing, or a correct
/// body is rejected.
pub(crate) fn run(root: &Path, curriculum: &Curriculum, options: &Options) -> Result<()> {
    let days = options.days.iter().map(|name| curriculum.day(name)).collect::<Result<Vec<_>>>()?;
    if options.unseen {
        return super::unseen::run(root, curriculum, &days);
    }
    let mut entries = super::load(root, curriculum)?;
    entries.retain(|entry| {
        days.is_empty() || days.iter().any(|day| entry.task.feature == day.feature)
    });
    let of = |processor: Processor| {
        let theirs = entries.iter().filter(|entry| is_for(processor, entry, curriculum));
        theirs.cloned().collect::<Vec<_>>()
    };
    let here: Vec<Entry> =
        entries.iter().filter(|entry| super::is_for_here(entry, curriculum)).cloned().collect();
    let mut matrix = tried(root, curriculum, &here, None)?;
    let others: Vec<(Processor, Vec<Entry>)> = PROCESSORS
        .into_iter()
        .filter(|processor| !processor.is_here())
        .map(|processor| (processor, of(processor)))
        .collect();
    for (processor, entries) in &others {
        let emulation = Emulation::of(*processor);
        let missing = emulation.missing();
        if entries.is_empty() {
        } else if missing.is_empty() {
            matrix.add(tried(root, curriculum, entries, Some(emulation))?);
        } else {
            let what = missing.join("; ");
            println!("NOT VERIFIED: mistakes in tasks for {}; missing: {what}", processor.name);
        }
    }
    for (path, answers) in data::files(root, &matrix.answers) {
        write_atomically(&path, answers.bytes())?;
    }
    finish(&mut matrix, &entries, "")
}

fn is_for(processor: Processor, entry: &Entry, curriculum: &Curriculum) -> bool {
    curriculum.task(&entry.task).ok().and_then(Task::processor) == Some(processor)
}

fn tried<'a>(
    root: &Path,
    curriculum: &Curriculum,
    entries: &'a [Entry],
    emulation: Option<Emulation>,
) -> Result<Matrix<'a>> {
    let bank = Bank::build(root, curriculum, entries, emulation)?;
    let record = root.join("target/verify/answers");
    fs::create_dir_all(&record)?;
    matrix::run(&bank, curriculum, entries, &record)
}

fn finish(matrix: &mut Matrix, entries: &[Entry], advice: &str) -> Result<()> {
    report(matrix, entries);
    let problems = counted(matrix.problems.len(), "problem");
    ensure!(matrix.problems.is_empty(), "{problems}{advice}");
    Ok(())
}

/// Tries `entries` in the program of `bank`, which contains their bodies, and compares the answers
/// with the recorded ones. Returns a summary.
///
/// # Errors
/// The same as for [`run`].
pub(super) fn check(
    root: &Path,
    curriculum: &Curriculum,
    bank: Bank,
    entries: &[Entry],
) -> Result<String> {
    let record = root.join("target/verify/answers");
    fs::create_dir_all(&record)?;
    let mut matrix = matrix::run(&bank, curriculum, entries, &record)?;
    // A file that also has answers of tasks for another processor can't be compared completely.
    let all = super::load(root, curriculum)?;
    let elsewhere: Vec<&Entry> =
        all.iter().filter(|entry| !super::is_for_here(entry, curriculum)).collect();
    matrix.answers.retain(|file, _| {
        !elsewhere.iter().any(|entry| super::answers_file(entry, curriculum) == *file)
    });
    compared(matrix, root, entries)
}

/// Compares the answers with the recorded ones, and returns a summary.
fn compared(mut matrix: Matrix, root: &Path, entries: &[Entry]) -> Result<String> {
    matrix.problems.extend(data::stale(root, &matrix.answers));
    finish(&mut matrix, entries, "; `cargo course matrix` rewrites the answers")?;
    let (wrong, right) = (matrix.rows.len(), matrix.alternates);
    Ok(format!("{wrong} mistakes caught and named, {right} correct alternates accepted"))
}

/// Tries the bank's bodies for the tasks of `processor`, which `emulation` emulates, and compares
/// the answers with the recorded ones. Returns a summary.
///
/// # Errors
/// The same as for [`run`].
pub(crate) fn verify_elsewhere(
    root: &Path,
    curriculum: &Curriculum,
    processor: Processor,
    emulation: Emulation,
) -> Result<String> {
    let mut entries = super::load(root, curriculum)?;
    entries.retain(|entry| is_for(processor, entry, curriculum));
    let matrix = tried(root, curriculum, &entries, Some(emulation))?;
    compared(matrix, root, &entries)
}

fn report(matrix: &mut Matrix, entries: &[Entry]) {
    let mut nearest: BTreeMap<String, (f64, &str)> = BTreeMap::new();
    for row in &matrix.rows {
        let Some(distance) = row.distance else { continue };
        let best =
            nearest.entry(row.entry.task.to_string()).or_insert((f64::INFINITY, &row.entry.name));
        if distance < best.0 {
            *best = (distance, &row.entry.name);
        }
    }
    println!("Each task's closest wrong answer, and its distance as a multiple of the tolerance:");
    for (task, (distance, name)) in &nearest {
        println!("  {task:<20} {:>10}  {name}", shown(*distance));
        if *distance < NEAREST {
            matrix.problems.push(format!(
                "{task}: {name} is only {distance:.1} tolerances from the right answer, expected \
                 at least {NEAREST}"
            ));
        }
    }
    println!("\nday          mistakes  named  alternates");
    let mut days: Vec<&str> = entries.iter().map(|entry| entry.task.feature.as_str()).collect();
    days.dedup();
    days.sort_unstable();
    days.dedup();
    for day in days {
        let rows = matrix.rows.iter().filter(|row| row.entry.task.feature == day);
        let named = rows.clone().filter(|row| row.named > 0).count();
        let alternates = entries
            .iter()
            .filter(|entry| entry.task.feature == day && matches!(entry.kind, Kind::Alternate))
            .count();
        println!("{day:<12} {:>8}  {named:>5}  {alternates:>10}", rows.count());
    }
    for problem in &matrix.problems {
        println!("\n{problem}");
    }
}

/// Formats a distance with two significant digits.
fn shown(distance: f64) -> String {
    if distance.is_infinite() {
        return "∞".to_owned();
    }
    let scale = 10f64.powf(distance.max(1.0).log10().floor() - 1.0);
    format!("{}", (distance / scale).round() * scale)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn distances_have_two_digits() {
        assert_eq!([shown(23.46), shown(123_456.0), shown(f64::INFINITY)], ["23", "120000", "∞"]);
    }
}

//! Checks that the book builds, and that every command in it has the described result.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{
    context::{Outcome, Verification, succeeds},
    proofs,
};
use crate::process::{Finished, forget_cargo, run};

/// Builds the book. The book builder checks links, stubs, formulas and fences.
pub(super) fn build(v: &Verification) -> Result<Outcome> {
    let mut builder = Command::new(proofs::program(v, proofs::BOOK)?);
    succeeds(builder.arg("--build").current_dir(&v.tree))?;
    Ok(Outcome::Passed(String::new()))
}

/// A command in the output of `book-builder --list-commands`.
#[derive(Debug, Deserialize)]
struct Listed {
    file: String,
    line: usize,
    expect: Expectation,
    command: String,
    output: Vec<String>,
    #[serde(default)]
    shown: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

/// The expected result of a command. `book/README.md` describes the meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expectation {
    Green,
    Red,
    Reference,
    Interactive,
}

/// Runs every command of the book in the pristine copy.
pub(super) fn commands(v: &Verification) -> Result<Outcome> {
    let list =
        v.cargo("run --quiet --release --package book-builder -- --list-commands").output()?;
    ensure!(
        list.status.success(),
        "the book's commands cannot be listed:\n{}",
        String::from_utf8_lossy(&list.stderr)
    );
    let (mut ran, mut left_out, mut problems) = (0, Vec::new(), Vec::new());
    for line in String::from_utf8_lossy(&list.stdout).lines() {
        let listed: Listed =
            serde_json::from_str(line).with_context(|| format!("not a command: {line}"))?;
        let place = format!("{}:{}", listed.file, listed.line);
        let command = &listed.command;
        if listed.expect == Expectation::Interactive {
            println!(
                "{place}: $ {command}\n  not run: {}",
                listed.reason.as_deref().unwrap_or("interactive")
            );
            left_out.push(command.clone());
            continue;
        }
        let shared = shared_build(v, command);
        let finished = run(&mut shell(v, shared.as_deref().unwrap_or(command)), |_| {})?;
        let verdict = judge(&listed, &finished);
        let note =
            listed.shown.as_ref().map_or(String::new(), |shown| format!(" (in the book: {shown})"));
        println!(
            "{place}: $ {command}{note}\n  {}, {:.1} s",
            verdict.as_ref().map_or_else(String::as_str, |()| "as the book says"),
            finished.duration.as_secs_f64()
        );
        if let Err(problem) = verdict {
            println!("{}", finished.tail(30));
            problems.push(format!("{place}: `{command}`: {problem}"));
        }
        ran += 1;
    }
    ensure!(ran > 0, "the book has no command");
    ensure!(
        problems.is_empty(),
        "commands that do not do what the book says: {}\n{}",
        problems.len(),
        problems.join("\n")
    );
    let note = format!("{ran} commands; {} interactive ones not run", left_out.len());
    Ok(Outcome::Passed(note))
}

/// For a command that runs tests, returns one that runs them with the features of all weeks, so
/// that the learner's crate is not compiled again for each day. Returns `None` if the command must
/// run as the book shows it: with `--full`, for one day (drawn by the seed), for days that no
/// week's feature includes, and for any other command.
fn shared_build(v: &Verification, command: &str) -> Option<String> {
    let rest = command.strip_prefix("cargo test --features ")?;
    let (features, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (feature, reference) = match features.strip_suffix(",reference") {
        Some(feature) => (feature, ",reference"),
        None => (features, ""),
    };
    let days: Vec<_> = v.curriculum.days().collect();
    let place = days.iter().position(|day| day.feature == feature)?;
    let day = days[place];
    if v.options.full || day.apart.is_some() || place as u64 == v.seed() % days.len() as u64 {
        return None;
    }
    let weeks = v.curriculum.weeks.iter().map(|week| format!("week{}", week.number));
    let weeks: Vec<String> = weeks.collect();
    let (weeks, module) = (weeks.join(","), day.module());
    Some(format!("cargo test --features {weeks}{reference} --test {module} {rest}"))
}

/// Returns a command that runs a line in this system's shell.
fn shell(v: &Verification, line: &str) -> Command {
    #[cfg(windows)]
    let mut command = {
        let mut command = Command::new("cmd");
        // `cmd` parses quotes itself.
        std::os::windows::process::CommandExt::raw_arg(&mut command, format!("/C {line}"));
        command
    };
    #[cfg(not(windows))]
    let mut command = {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    };
    command
        .current_dir(&v.tree)
        .env("CARGO_TARGET_DIR", v.root.join("target/verify/build"))
        .env("CARGO_TERM_COLOR", "never");
    forget_cargo(&mut command);
    command
}

fn judge(listed: &Listed, finished: &Finished) -> Result<(), String> {
    match (listed.expect, finished.status.success()) {
        (Expectation::Red, true) => return Err("succeeds, but must fail on the stubs".to_owned()),
        (Expectation::Red, false) | (_, true) => {}
        (_, false) => return Err(format!("fails ({})", finished.status)),
    }
    match missing_line(&listed.output, &finished.text) {
        Some(line) => Err(format!("does not print what the book shows: {line}")),
        None => Ok(()),
    }
}

/// Returns the first line of `shown` that does not follow the previous ones in the output. Runs of
/// white space count as one space, and `…` matches any text.
fn missing_line<'a>(shown: &'a [String], output: &str) -> Option<&'a str> {
    let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let output: Vec<String> = output.lines().map(squeeze).collect();
    let mut at = 0;
    for line in shown {
        let pattern = squeeze(line);
        if pattern.is_empty() || pattern == "…" {
            continue;
        }
        match output[at..].iter().position(|candidate| matches(&pattern, candidate)) {
            Some(offset) => at += offset + 1,
            None => return Some(line),
        }
    }
    None
}

/// Returns whether the parts of `pattern` between `…` occur in `text`, in order.
fn matches(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    pattern.split('…').map(str::trim).all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(shown: &[&str], output: &str) -> Option<String> {
        let shown: Vec<String> = shown.iter().map(|line| (*line).to_owned()).collect();
        missing_line(&shown, output).map(str::to_owned)
    }

    #[test]
    fn shown_lines_must_occur_in_order() {
        let output = "running 2 tests\ntest  a ... ok\nfinished in 0.02s\n";
        assert_eq!(missing(&["…", "test a ... ok", "finished in …"], output), None);
        assert_eq!(missing(&["running … tests", "", "…", "finished in 0.02s"], output), None);
        assert_eq!(
            missing(&["finished in …", "test a ... ok"], output),
            Some("test a ... ok".into())
        );
        assert_eq!(missing(&["test b"], output), Some("test b".into()));
    }
}

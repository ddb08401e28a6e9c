//! Building the days' test programs, for the libraries' folder and for a submission.
//!
//! All days are built together. If the submission itself does not compile so, days that need the
//! same libraries are built together, as a learner who is at day 2 builds nothing of day 5: so a
//! fault in a later day's file does not cost the earlier days.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{
    limited::{self, Limits},
    sandbox::Sandbox,
};
use crate::curriculum::Day;

/// How long the build of a submission may take.
const TIME: Duration = Duration::from_secs(180);
/// How long the libraries' build may take.
const BASE_TIME: Duration = Duration::from_secs(1800);
/// The compiler's own memory counts here, MiB.
const MEMORY: u64 = 8192;
/// Cargo's messages are read whole.
const OUTPUT: usize = 64 << 20;
/// How much of the compiler's errors is kept.
const ERRORS: usize = 16 << 10;

/// A day's test program, or why there is none.
pub(super) type Built = Result<PathBuf, String>;

/// Some days that are built together.
type Group<'a> = Vec<&'a Day>;

/// What of cargo's messages is used.
#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default)]
    target: Target,
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Debug, Default, Deserialize)]
struct Target {
    #[serde(default)]
    name: String,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

/// What one build gave.
#[derive(Debug, Default)]
struct Output {
    /// Test program → its file.
    programs: BTreeMap<String, PathBuf>,
    /// Target and text of each error.
    errors: Vec<(String, String)>,
    /// Why it failed if there is no error of the compiler.
    otherwise: String,
}

/// Days by what they need of the libraries: the features that their own feature turns on.
///
/// # Errors
/// If `Cargo.toml` is malformed.
pub(super) fn groups<'a>(manifest: &str, days: &[&'a Day]) -> Result<Vec<Group<'a>>> {
    let manifest: toml::Table = manifest.parse().context("Cargo.toml is malformed")?;
    let needs = |day: &Day| {
        manifest.get("features").and_then(|features| features.get(&day.feature)).cloned()
    };
    let mut groups: Vec<(Option<toml::Value>, Group<'a>)> = Vec::new();
    for &day in days {
        let needs = needs(day);
        match groups.iter_mut().find(|(of, _)| *of == needs) {
            Some((_, group)) => group.push(day),
            None => groups.push((needs, vec![day])),
        }
    }
    Ok(groups.into_iter().map(|(_, group)| group).collect())
}

/// Builds the libraries and the stubs' test programs, and returns the programs.
///
/// # Errors
/// If a build fails: nothing can be graded then.
pub(super) fn base(
    sandbox: &Sandbox,
    days: &[&Day],
    groups: &[Group],
) -> Result<BTreeMap<String, PathBuf>> {
    sandbox.lay_out(None)?;
    let mut programs = BTreeMap::new();
    for group in groups.iter().map(Vec::as_slice).chain([days]) {
        let output = cargo(sandbox, &sandbox.base(), group, BASE_TIME)?;
        for day in group {
            let program = output.of(day).map_err(|reason| {
                anyhow::anyhow!("the stubs' tests of {} cannot be built: {reason}", day.feature)
            });
            programs.insert(day.feature.clone(), program?);
        }
    }
    Ok(programs)
}

/// Builds the days' tests on the submission that is laid out.
///
/// # Errors
/// If cargo cannot be started.
pub(super) fn submission(
    sandbox: &Sandbox,
    days: &[&Day],
    groups: &[Group],
) -> Result<BTreeMap<String, Built>> {
    let together = cargo(sandbox, &sandbox.build(), days, TIME)?;
    let mut built: BTreeMap<String, Built> =
        days.iter().map(|day| (day.feature.clone(), together.of(day))).collect();
    if groups.len() > 1 && built.values().all(Result::is_err) {
        for group in groups {
            let apart = cargo(sandbox, &sandbox.build(), group, TIME)?;
            built.extend(group.iter().map(|day| (day.feature.clone(), apart.of(day))));
        }
    }
    Ok(built)
}

fn cargo(sandbox: &Sandbox, target: &Path, days: &[&Day], time: Duration) -> Result<Output> {
    let features: Vec<&str> = days.iter().map(|day| day.feature.as_str()).collect();
    let mut arguments: Vec<OsString> =
        ["build", "--locked", "--offline", "--keep-going", "--message-format=json", "--features"]
            .map(Into::into)
            .to_vec();
    arguments.push(features.join(",").into());
    for day in days {
        arguments.extend(["--test".into(), day.module().into()]);
    }
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let limits = Limits { time, memory: MEMORY, output: OUTPUT };
    let ended =
        limited::run(&program, &arguments, &sandbox.tree(), &sandbox.for_cargo(target), &limits)?;
    let mut output = Output::parse(&ended.stdout);
    output.otherwise = if ended.status.is_none() {
        format!("the build was ended after {} s, the time limit", time.as_secs())
    } else {
        let lines: Vec<&str> = ended.stderr.lines().collect();
        format!("the build failed: {}", lines[lines.len().saturating_sub(10)..].join("\n"))
    };
    Ok(output)
}

impl Output {
    /// Reads cargo's messages, one JSON object a line.
    fn parse(text: &str) -> Self {
        let mut output = Self::default();
        for message in text.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok()) {
            if let Some(program) = message.executable {
                output.programs.insert(message.target.name.clone(), program);
            }
            if let Some(Diagnostic { level, rendered: Some(rendered) }) = message.message
                && level.starts_with("error")
            {
                output.errors.push((message.target.name, rendered));
            }
        }
        // The compiler's targets come in any order.
        output.errors.sort();
        output.errors.dedup();
        output
    }

    /// The day's program, or the errors that stand in its way.
    fn of(&self, day: &Day) -> Built {
        let module = day.module();
        if let Some(program) = self.programs.get(&module) {
            return Ok(program.clone());
        }
        let of_day = |target: &str| target == module || !target.starts_with("week");
        let mut text = String::from("does not compile\n");
        for (_, error) in self.errors.iter().filter(|(target, _)| of_day(target)) {
            if text.len() + error.len() > ERRORS {
                text += "[… more errors left out …]\n";
                break;
            }
            text += error;
        }
        Err(if text.lines().count() > 1 { text } else { self.otherwise.clone() })
    }
}

/// The tests of a program that was built from the instructor's own files.
///
/// # Errors
/// If it does not list any.
pub(super) fn tests(sandbox: &Sandbox, program: &Path) -> Result<Vec<String>> {
    let limits = Limits { time: Duration::from_secs(60), memory: MEMORY, output: 1 << 20 };
    let ended = limited::run(
        program.as_os_str(),
        &["--list", "--format=terse"],
        &sandbox.tree(),
        &sandbox.for_tests(),
        &limits,
    )?;
    let mut tests: Vec<String> = ended
        .stdout
        .lines()
        .filter_map(|line| Some(line.strip_suffix(": test")?.to_owned()))
        .collect();
    tests.sort();
    ensure!(
        !tests.is_empty(),
        "{} lists no tests: {}{}",
        program.display(),
        ended.stdout,
        ended.stderr
    );
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    #[test]
    fn days_are_grouped_by_what_they_need() {
        let curriculum = curriculum();
        let days: Vec<&Day> = curriculum.days().collect();
        let sizes = |manifest: &str| {
            groups(manifest, &days).unwrap().iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes("[features]\nweek1-day1 = []\nweek1-day2 = []\n"), [2]);
        assert_eq!(sizes("[features]\nweek1-day1 = []\nweek1-day2 = [\"model\"]\n"), [1, 1]);
    }

    #[test]
    fn programs_and_errors_are_read_off_cargos_messages() {
        let output = Output::parse(
            r#"{"reason":"compiler-message","target":{"name":"tiny_llm"},"message":{"level":"warning","rendered":"unused\n"}}
{"reason":"compiler-message","target":{"name":"week1_day2"},"message":{"level":"error","rendered":"error: no three\n"}}
{"reason":"compiler-artifact","target":{"name":"week1_day1"},"executable":"/x/week1_day1-1","fresh":false}
not json
{"reason":"build-finished","success":false}
"#,
        );
        let curriculum = curriculum();
        let built: Vec<Built> = curriculum.days().map(|day| output.of(day)).collect();
        assert_eq!(
            built,
            [Ok("/x/week1_day1-1".into()), Err("does not compile\nerror: no three\n".to_owned())]
        );
    }

    #[test]
    fn an_error_of_the_library_concerns_every_day_and_a_silent_failure_says_so() {
        let mut output =
            Output { otherwise: "the build failed: no space".to_owned(), ..Output::default() };
        let curriculum = curriculum();
        let day = curriculum.days().next().unwrap();
        assert_eq!(output.of(day), Err("the build failed: no space".to_owned()));
        output.errors = vec![
            ("tiny_llm".to_owned(), "error: bad\n".to_owned()),
            ("week1_day2".to_owned(), "error: other\n".to_owned()),
        ];
        assert_eq!(output.of(day), Err("does not compile\nerror: bad\n".to_owned()));
    }
}

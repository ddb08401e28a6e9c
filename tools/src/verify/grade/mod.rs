//! Tests `cargo course grade` with correct, unfinished, broken, endless, greedy, noisy and hostile
//! submissions. Each must get the expected points, without affecting the others.
//!
//! Hostile submissions are graded only in a sandbox, because without one they would run as your
//! user.

mod cases;

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use self::cases::{Case, Maker};
use super::context::{Outcome, Verification, seconds};
use crate::{grade, process::run_aloud, stubs::generated};

/// Time limit for a test in this step, in seconds. [`DAY`] is the limit for a day's tests.
const TEST: u64 = 5;
const DAY: u64 = 20;

/// Grades the honest, broken and hostile submissions in one run, on day 1.
pub(super) fn grade(v: &Verification) -> Result<Outcome> {
    let start = Instant::now();
    let files = generated(&v.tree, &v.curriculum)?;
    let folder = v.root.join("target/verify/grade");
    let _ = fs::remove_dir_all(&folder);
    let neighbour = folder.join("in/good");
    let maker =
        Maker { root: &v.tree, curriculum: &v.curriculum, files: &files, neighbour: &neighbour };
    let no_wall = grade::without_wall(&v.tree);
    let hostile = if no_wall.is_some() { Vec::new() } else { maker.hostile()? };
    let before = outside(&v.tree);

    let (honest, broken) = (maker.honest()?, maker.broken());
    let mut all: Vec<&Case> = honest.iter().collect();
    let last = all.pop();
    all.extend(&broken);
    all.extend(&hostile);
    // This one comes last, to check that the other submissions leave nothing that changes its
    // result.
    all.extend(last);
    let printed = run(v, &folder, &all)?;
    let mut problems = Vec::new();
    for case in &all {
        if let Err(error) = judge(&folder.join("out"), case, &printed) {
            problems.push(format!("{}: {error:#}", case.name));
        }
    }
    let result = |name: &str| fs::read(folder.join("out").join(name).join("results.json"));
    if result("good")? != result("good-again")? {
        problems.push("two gradings of the same files differ".to_owned());
    }
    let junit =
        fs::read_to_string(folder.join("out/junit.xml")).context("there is no junit.xml")?;
    let suites = junit.matches("<testsuite ").count();
    if suites != all.len() {
        problems.push(format!("junit.xml has {suites} suites; expected {}", all.len()));
    }
    if junit.contains(['\u{fffe}', '\u{ffff}', '\u{1}', '\u{b}']) {
        problems.push("junit.xml has characters that XML does not allow".to_owned());
    }
    if outside(&v.tree) != before {
        problems.push("a submission changed a file outside its folder".to_owned());
    }
    problems.extend(survivors().into_iter().map(|id| format!("process {id} is still running")));
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    let found = format!(
        "{} hostile submissions got no point, {} others got their points, in {}",
        hostile.len(),
        all.len() - hostile.len(),
        seconds(start.elapsed())
    );
    Ok(match no_wall {
        None => Outcome::Passed(found),
        Some(why) => {
            Outcome::NotVerified(format!("{why}: no hostile submission was run ({found})"))
        }
    })
}

/// Grades the cases. Returns what `cargo course grade` printed.
fn run(v: &Verification, folder: &Path, cases: &[&Case]) -> Result<String> {
    let mut command = v.cargo("course grade --days week1-day1 --memory-limit 512 --trust");
    command.args(["--test-limit", &TEST.to_string(), "--time-limit", &DAY.to_string(), "--out"]);
    command.arg(folder.join("out"));
    let mut list = String::new();
    for case in cases {
        let submission = folder.join("in").join(&case.name);
        case.write(&submission)?;
        list += &format!("{}\n", submission.display());
    }
    let path = folder.join("list.txt");
    fs::write(&path, list)?;
    command.arg("--list").arg(path);
    let finished = run_aloud(&mut command)?;
    ensure!(finished.status.success(), "`cargo course grade` failed ({})", finished.status);
    // Time to build the libraries, plus the build and the day's limit for each submission.
    let bound = Duration::from_secs(600 + cases.len() as u64 * (30 + DAY));
    ensure!(
        finished.duration < bound,
        "the run took longer than its limits allow ({})",
        seconds(bound)
    );
    Ok(finished.text)
}

/// Checks that the submission got the expected results.
fn judge(out: &Path, case: &Case, printed: &str) -> Result<()> {
    let row = printed
        .lines()
        .find(|line| line.split_whitespace().next() == Some(case.name.as_str()))
        .context("the table does not list it")?;
    if let Some(shown) = case.shown {
        ensure!(row.contains(shown), "the table says `{row}`; expected {shown:?} in it");
    }
    let text = fs::read_to_string(out.join(&case.name).join("results.json"))
        .context("there is no results.json")?;
    let results: Value = serde_json::from_str(&text).context("results.json is malformed")?;
    ensure!(
        results["score"].as_f64() == Some(case.passed as f64),
        "its score is {}; expected {}: `{row}`",
        results["score"],
        case.passed
    );
    let tests = results["tests"].as_array().map_or(0, Vec::len);
    ensure!(tests == 3, "results.json has {tests} tasks; expected 3");
    let size = fs::metadata(out.join(&case.name).join("output.txt"))
        .context("there is no output.txt")?
        .len();
    ensure!(size < 2 << 20, "output.txt has {size} bytes; its limit is 1 MiB");
    if let Some(at_last) = &case.at_last {
        ensure!(text.contains(at_last), "its results do not say {at_last:?}: {}", results["tests"]);
    }
    if let Some(never) = &case.never {
        ensure!(
            !text.contains(never),
            "its results must not contain {never:?}: {}",
            results["tests"]
        );
    }
    Ok(())
}

/// Returns the contents of files that no submission may change: files next to the course that cargo
/// would read, and files that hostile submissions try to write.
fn outside(root: &Path) -> Vec<Option<Vec<u8>>> {
    let written = ["/tmp".into(), root.join("tests/fixtures"), root.join("models")]
        .map(|folder: PathBuf| folder.join("owned-by-a-submission"));
    let configurations = root.ancestors().map(|folder| folder.join(".cargo/config.toml"));
    let work = root.join("target/grade/cell");
    let below = ["", "scratch", "scratch/0", "scratch/0/out"]
        .map(|folder| work.join(folder).join(".cargo/config.toml"));
    let fixtures = root.join("tests/fixtures/week1_day1.safetensors");
    let paths =
        configurations.chain(below).chain(written).chain([fixtures, root.join("src/lib.rs")]);
    paths.map(|path| fs::read(path).ok()).collect()
}

/// Returns the submissions' processes that are still running, if the system reports them.
fn survivors() -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let graded = entries.filter(|entry| {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains("/out/week1_day1-1-graded")
    });
    graded.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

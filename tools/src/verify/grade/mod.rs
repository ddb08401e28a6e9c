//! `cargo course grade` on submissions that are sound, unfinished, broken, endless, greedy, loud or
//! hostile: each gets the points that it must get, and none costs the others theirs.
//!
//! Everything is graded once. Then what its text gave away is graded again as if an instructor had
//! let it pass, so that it meets the wall and the fresh inputs too.

mod cases;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use self::cases::{Case, Maker};
use super::context::{Outcome, Verification, seconds};
use crate::{process::run_aloud, stubs::generated};

/// Seconds for a day's tests in this step.
const TIME: u64 = 20;

/// All of them in two runs, on day 1.
pub(super) fn grade(v: &Verification) -> Result<Outcome> {
    let start = Instant::now();
    let files = generated(&v.tree, &v.curriculum)?;
    let folder = v.root.join("target/verify/grade");
    let _ = fs::remove_dir_all(&folder);
    let neighbour = folder.join("first/in/good");
    let maker =
        Maker { root: &v.tree, curriculum: &v.curriculum, files: &files, neighbour: &neighbour };
    let hostile = maker.hostile()?;
    let before = outside(&v.tree);

    let mut first: Vec<&Case> = Vec::new();
    let (honest, broken) = (maker.honest()?, maker.broken());
    let mut honest: Vec<&Case> = honest.iter().collect();
    let last = honest.pop();
    first.extend(honest);
    first.extend(&broken);
    first.extend(&hostile);
    // After all others: nothing that they left may change it.
    first.extend(last);
    let printed = run(v, &folder.join("first"), &first, &[])?;
    let wall = !printed.contains("There is no wall");
    let mut problems = Vec::new();
    for case in &first {
        if let Err(error) = judge(&folder.join("first/out"), case, case.flag.as_deref(), &printed) {
            problems.push(format!("{}: {error:#}", case.name));
        }
    }
    let result = |name: &str| fs::read(folder.join("first/out").join(name).join("results.json"));
    if result("good")? != result("good-again")? {
        problems.push("two gradings of the same files differ".to_owned());
    }
    let junit =
        fs::read_to_string(folder.join("first/out/junit.xml")).context("there is no junit.xml")?;
    let suites = junit.matches("<testsuite ").count();
    if suites != first.len() {
        problems.push(format!("junit.xml has {suites} suites"));
    }

    let flagged = maker.broken_and_flagged();
    let second: Vec<&Case> =
        hostile.iter().filter(|case| case.flag.is_some()).chain(&flagged).collect();
    if wall {
        let names: Vec<&str> = second.iter().map(|case| case.name.as_str()).collect();
        let allow = ["--allow".to_owned(), names.join(",")];
        let printed = run(v, &folder.join("second"), &second, &allow)?;
        for case in &second {
            if let Err(error) = judge(&folder.join("second/out"), case, None, &printed) {
                problems.push(format!("{}, allowed: {error:#}", case.name));
            }
        }
    }
    if outside(&v.tree) != before {
        problems.push("a submission changed something outside".to_owned());
    }
    problems.extend(survivors().into_iter().map(|id| format!("process {id} outlived its grading")));
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    let found = format!(
        "{} hostile submissions without a point, {} others with theirs, in {}",
        hostile.len(),
        first.len() + flagged.len() - hostile.len(),
        seconds(start.elapsed())
    );
    if wall {
        Ok(Outcome::Passed(found))
    } else {
        let why = "bubblewrap does not work here: what a text gives away was not let through";
        Ok(Outcome::NotVerified(format!("{why} ({found})")))
    }
}

/// Grades the cases, and returns what was printed.
fn run(v: &Verification, folder: &Path, cases: &[&Case], options: &[String]) -> Result<String> {
    let mut command = v.cargo("course grade --days week1-day1 --memory-limit 512 --trust");
    command.args(["--time-limit", &TIME.to_string(), "--out"]).arg(folder.join("out"));
    command.args(options);
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
    // The libraries' build; for each the build, the day's limit and the tasks' single tests.
    let bound = Duration::from_secs(600 + cases.len() as u64 * (30 + 2 * TIME));
    ensure!(
        finished.duration < bound,
        "the run took longer than its limits allow, {}",
        seconds(bound)
    );
    Ok(finished.text)
}

/// Whether the submission got what it must get, and, if `flag` says so, for what its text says.
fn judge(out: &Path, case: &Case, flag: Option<&str>, printed: &str) -> Result<()> {
    let row = printed
        .lines()
        .find(|line| line.split_whitespace().next() == Some(case.name.as_str()))
        .context("not in the table")?;
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
    let flags = results["extra_data"]["look_at"].as_array().cloned().unwrap_or_default();
    if let Some(flag) = flag {
        let named = flags.iter().filter_map(Value::as_str).any(|line| line.ends_with(flag));
        ensure!(named, "its text must be stopped by {flag:?}; found {flags:?}");
        ensure!(row.contains("not graded"), "it was built although its text gave it away: `{row}`");
    } else if let Some(at_last) = &case.at_last {
        ensure!(text.contains(at_last), "its results do not say {at_last:?}: {}", results["tests"]);
    } else if case.flag.is_none() && case.passed == 3 {
        ensure!(flags.is_empty(), "nothing in it is forbidden; found {flags:?}");
    }
    Ok(())
}

/// What no submission may change: files beside the course that cargo would read, and those that
/// the hostile ones try to write.
fn outside(root: &Path) -> Vec<Option<Vec<u8>>> {
    let written = Path::new("/tmp/owned-by-a-submission").to_owned();
    let configurations = root.ancestors().map(|folder| folder.join(".cargo/config.toml"));
    let work = root.join("target/grade/cell");
    let below =
        ["", "scratch", "scratch/out"].map(|folder| work.join(folder).join(".cargo/config.toml"));
    let fixtures = root.join("tests/fixtures/week1_day1.safetensors");
    let paths = configurations.chain(below).chain([written, fixtures, root.join("src/lib.rs")]);
    paths.map(|path| fs::read(path).ok()).collect()
}

/// Processes of submissions that are still there, where the system says so.
fn survivors() -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let graded = entries.filter(|entry| {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains("/scratch/out/week1_day1-graded")
    });
    graded.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

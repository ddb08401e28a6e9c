//! Measures how long a learner waits: on the first day, for the runner's build, for `cargo course`
//! without arguments, and in `watch` from a save to the verdict. The results are reported but not
//! asserted, because the machine may be busy.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use course::explain::counted;

use super::{
    context::{Outcome, Verification},
    cpu,
    promise::{self, Promise},
    tree::write_if_changed,
};
use crate::{
    process::{self, Line, run_quietly},
    proof,
    source::function_body,
    stubs::generated,
};

/// A task of the first day, and the slowest tasks of later days: the whole model, and the sampler
/// (whose tests link the tokenizer).
const TASKS: [(&str, usize); 3] = [("week1-day1", 2), ("week1-day5", 3), ("week1-day7", 6)];

/// Number of saves for each task.
const SAVES: usize = 10;

/// Timeout, longer than any build of one crate.
const PATIENCE: Duration = Duration::from_secs(900);

/// Measures a cold build of the first day's tests, then the time from an edit in `src/` to the
/// verdict.
pub(super) fn first_day(v: &Verification) -> Result<Outcome> {
    let target = cold(v)?;
    let day = v.curriculum.days().next().expect("a course has a day");
    let arguments = format!("test --test {} --features {}", day.module(), day.feature);
    let own_profile = proof::learners_profile(&v.root)?.display().to_string();

    let mut build = v.cargo(&arguments);
    build.args(["--no-run", "--config", &own_profile]).env("CARGO_TARGET_DIR", &target);
    let built = run_quietly(&mut build)?;
    if !built.status.success() {
        return Ok(Outcome::Failed(built.tail(20)));
    }

    let path = v.tree.join(&day.tasks[0].file);
    let text = fs::read_to_string(&path)?;
    let mut edits = Vec::new();
    for n in 0..5 {
        write_if_changed(&path, format!("{text}\n// edit {n}\n").as_bytes())?;
        let mut test = v.cargo(&arguments);
        test.args(["task_1", "--config", &own_profile]).env("CARGO_TARGET_DIR", &target);
        edits.push(run_quietly(&mut test)?.duration);
    }
    write_if_changed(&path, text.as_bytes())?;
    fs::remove_dir_all(&target)?;

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let promises = [
        Promise::new("cold build", built.duration.as_secs_f64(), 20.0, "s"),
        Promise::new("edit to verdict", median(edits).as_secs_f64(), 1.0, "s"),
    ];
    let machine = format!("promised for two idle cores, measured on {}", counted(cores, "core"));
    Ok(promise::outcome(&promises, &machine))
}

/// Removes the folder for cold builds, and returns its path.
fn cold(v: &Verification) -> Result<PathBuf> {
    let target = v.root.join("target/verify/cold");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    Ok(target)
}

/// Measures a cold build of the runner, ten calls of it without arguments, and ten saves for each
/// of [`TASKS`].
pub(super) fn runner(v: &Verification) -> Result<Outcome> {
    let target = cold(v)?;
    let mut build = v.cargo("build --profile course --package course");
    let before = cpu::spent();
    let built = run_quietly(build.env("CARGO_TARGET_DIR", &target))?;
    let processor = cpu::since(before);
    ensure!(built.status.success(), "the runner does not build:\n{}", built.tail(20));

    // Start the runner without cargo, which first takes 0.2 s to resolve the workspace.
    let program = target.join(format!("course/course{}", std::env::consts::EXE_SUFFIX));
    let mut lists = Vec::new();
    for _ in 0..SAVES {
        let list = run_quietly(Command::new(&program).current_dir(&v.tree))?;
        ensure!(list.status.success(), "`cargo course` fails:\n{}", list.tail(20));
        lists.push(list.duration);
    }
    fs::remove_dir_all(&target)?;

    let files = generated(&v.root, &v.curriculum)?;
    for file in &files {
        write_if_changed(&v.tree.join(&file.path), file.template.render(|_| true).as_bytes())?;
    }
    let watched: Result<Vec<(Duration, u64)>> =
        TASKS.iter().map(|(day, task)| watch(v, day, *task)).collect();
    for file in &files {
        write_if_changed(&v.tree.join(&file.path), file.stub.as_bytes())?;
    }
    let watched = watched?;

    let mut promises = vec![
        Promise::new("cold build", built.duration.as_secs_f64(), 40.0, "s"),
        Promise::new("list, without cargo", median(lists).as_secs_f64() * 1e3, 100.0, "ms"),
    ];
    let seconds = processor.map(|time| time.as_secs_f64());
    promises.extend(seconds.map(|s| Promise::new("the build's processor time", s, 75.0, "s")));
    for ((day, _), (time, _)) in TASKS.iter().zip(&watched) {
        let what = format!("save to verdict {day}");
        promises.push(Promise::new(&what, time.as_secs_f64(), 1.5, "s"));
    }
    let memory = watched.iter().map(|(_, kib)| kib / 1024).max().unwrap_or(0);
    promises.push(Promise::new("memory of `watch`", memory as f64, 100.0, "MiB"));
    Ok(promise::outcome(&promises, ""))
}

/// Saves the task's file [`SAVES`] times while `cargo course watch` runs. Returns the median time
/// from save to verdict, and the runner's peak memory in KiB (0 if the system does not report it).
///
/// Before each save, an assertion with a new message is put at the beginning of the task's first
/// function. So its tests fail, the task stays current, and the whole body is compiled every time.
fn watch(v: &Verification, day: &str, number: usize) -> Result<(Duration, u64)> {
    let (_, id, task) = v.curriculum.named(day, number)?;
    let path = v.tree.join(&task.file);
    let text = fs::read_to_string(&path)?;
    let with = |n: usize| -> Result<String> {
        let lines: Vec<&str> = text.lines().collect();
        let body = function_body(&lines, &task.functions[0])
            .with_context(|| format!("{id}: {} was not found", task.functions[0]))?;
        let at = lines
            .iter()
            .position(|line| std::ptr::eq(line, &raw const body[0]))
            .context("the body is not in its file")?;
        let assertion = format!("assert!(std::hint::black_box({n}) == 0, \"save {n}\");");
        Ok([&lines[..at], &[assertion.as_str()], &lines[at..]].concat().join("\n") + "\n")
    };
    fs::write(&path, with(SAVES + 1)?)?;
    // After one run of the day's tests, this task is the first that has not passed. Its tests fail,
    // so the exit code is not checked.
    let as_learner = |arguments: String| {
        let mut command = v.cargo(&arguments);
        command.env("CARGO_PROFILE_DEV_INCREMENTAL", "true");
        command
    };
    run_quietly(&mut as_learner(format!("course test {day}")))?;

    let (mut child, lines) = process::start(&mut as_learner(format!("course watch {day}")))?;
    let measure = || -> Result<(Duration, u64)> {
        until(&lines, &format!("save {}", SAVES + 1))?;
        let mut times = Vec::new();
        for n in 1..=SAVES {
            // Wait for the last lines of the verdict.
            std::thread::sleep(Duration::from_millis(300));
            let saved = Instant::now();
            fs::write(&path, with(n)?)?;
            until(&lines, &format!("save {n}"))?;
            times.push(saved.elapsed());
        }
        Ok((median(times), peak_of(child.id())))
    };
    let measured = measure();
    child.kill()?;
    child.wait()?;
    fs::write(&path, text)?;
    measured
}

/// Waits for a line that equals `message`. (A panic prints its message as a line.)
fn until(lines: &Receiver<Line>, message: &str) -> Result<()> {
    let start = Instant::now();
    let mut seen = String::new();
    while let Ok(Line { text: line, .. }) =
        lines.recv_timeout(PATIENCE.saturating_sub(start.elapsed()))
    {
        if line.trim() == message {
            return Ok(());
        }
        seen = seen + &line + "\n";
    }
    anyhow::bail!(
        "`cargo course watch` did not show {message:?} within {} s; it printed\n{seen}",
        PATIENCE.as_secs()
    )
}

/// Returns the median, or 0 if there are no times.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the peak resident memory of the runner, in KiB. `cargo` is the id of the process that
/// started the runner. Only Linux reports the memory.
fn peak_of(cargo: u32) -> u64 {
    let status = |id: u32| fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let field = |text: &str, name: &str| -> Option<u64> {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
    };
    // On Unix, the program replaces the process of `cargo run`. Elsewhere, the program is a child
    // of that process.
    let children =
        fs::read_to_string(format!("/proc/{cargo}/task/{cargo}/children")).unwrap_or_default();
    let own =
        std::iter::once(cargo).chain(children.split_whitespace().filter_map(|id| id.parse().ok()));
    own.filter_map(|id| Some(status(id)).filter(|text| text.starts_with("Name:\tcourse")))
        .find_map(|text| field(&text, "VmHWM:"))
        .unwrap_or(0)
}

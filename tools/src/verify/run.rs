//! Runs steps, each in its own process. Several run at the same time if cores are idle.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    fs::{self, File},
    io::{IsTerminal, Write, stderr, stdout},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread::{available_parallelism, sleep},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{
    context::{NotVerified, Options, Outcome, Verification},
    cpu, report,
    state::{Row, State},
    step::{self, Load, Step},
};
use course::estimate::measured;

/// The result of [`measured`] on the machine on which the steps' processor seconds were measured.
const REFERENCE: f64 = 1.0;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The report of a step's process.
#[derive(Serialize, Deserialize)]
struct Ended {
    outcome: Outcome,
    processor: Option<f64>,
}

/// Runs one step in this process and writes its outcome.
///
/// # Errors
/// If there is no such step, or the outcome cannot be written.
pub(super) fn one(v: &Verification, id: &str) -> Result<()> {
    let step = step::named(id).with_context(|| format!("there is no step {id:?}"))?;
    let outcome = (step.run)(v).unwrap_or_else(|error| match error.downcast() {
        Ok(NotVerified(reason)) => Outcome::NotVerified(reason),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    });
    let processor = cpu::spent().map(|time| time.as_secs_f64());
    let text = serde_json::to_string(&Ended { outcome, processor })?;
    fs::write(ended(&v.root, id), text).context("the step's outcome cannot be written")
}

fn ended(root: &Path, id: &str) -> PathBuf {
    root.join("target/verify/logs").join(format!("{id}.json"))
}

fn log(root: &Path, id: &str) -> PathBuf {
    root.join("target/verify/logs").join(format!("{id}.log"))
}

/// A running step.
struct Running {
    step: &'static Step,
    child: Child,
    start: Instant,
}

/// Runs the steps of a plan, and returns a row for each.
///
/// # Errors
/// If a process cannot be started, or the user interrupts the run. In that case, all processes are
/// ended.
pub(super) fn all(v: &Verification, plan: &[&'static Step], state: &mut State) -> Result<Vec<Row>> {
    fs::create_dir_all(v.root.join("target/verify/logs"))?;
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    let mut progress = Progress::new(v, state, plan.len());
    let (mut waiting, mut running) = (plan.to_vec(), Vec::<Running>::new());
    let mut rows: Vec<Row> = Vec::new();
    let mut drawn = Instant::now();
    while !(waiting.is_empty() && running.is_empty()) {
        // Before any step starts, take the outcomes of those that need not run again.
        while let Some((at, row)) = first_reusable(state, &waiting) {
            waiting.remove(at);
            progress.finished(&row, &waiting, &running);
            rows.push(row);
        }
        while let Some(at) = next(&waiting, &running) {
            let step = waiting.remove(at);
            if let Some(lacking) = lacking(step, &rows) {
                let outcome = Outcome::NotVerified(format!("the step `{lacking}` failed"));
                let row = Row { id: step.id.into(), outcome, clock: 0.0, processor: None };
                progress.finished(&row, &waiting, &running);
                rows.push(row);
                continue;
            }
            progress.started(step, &waiting, &running);
            running.push(start(v, step)?);
        }
        if INTERRUPTED.load(Ordering::Relaxed) {
            end(&mut running);
            progress.clear();
            bail!("interrupted; `cargo course verify --resume` continues where it stopped");
        }
        sleep(Duration::from_millis(50));
        let mut at = 0;
        while at < running.len() {
            if running[at].child.try_wait()?.is_none() {
                at += 1;
                continue;
            }
            let Running { step, start, .. } = running.remove(at);
            let row = finished(v, step, start.elapsed());
            if step.id == "bare" {
                *state = State::load(&v.root)?;
            }
            state.add(&v.root, row.clone())?;
            progress.finished(&row, &waiting, &running);
            rows.push(row);
        }
        if drawn.elapsed() > Duration::from_secs(1) {
            drawn = Instant::now();
            progress.draw(&waiting, &running);
        }
    }
    progress.clear();
    // Sort by the list's order, not by the order in which steps ended.
    rows.sort_by_key(|row| step::STEPS.iter().position(|step| step.id == row.id));
    Ok(rows)
}

/// Returns the step to start next, if one can start: its dependencies are done, and the machine has
/// room for it. `bare` comes first, `unmodified` last. Other steps that run alone come after those
/// that do not, which build most of what they need. Longer steps come before shorter ones.
fn next(waiting: &[&Step], running: &[Running]) -> Option<usize> {
    let is_open = |id: &str| {
        waiting.iter().any(|step| step.id == id) || running.iter().any(|run| run.step.id == id)
    };
    let count = |load| running.iter().filter(|run| run.step.load == load).count();
    // At most two computing steps run at the same time. A step alone often waits for its own last
    // thread. With three, each needs more processor time, and the run takes as long.
    let computing = count(Load::All) + count(Load::One);
    let fits = |step: &Step| match step.load {
        _ if count(Load::Alone) > 0 => false,
        Load::Alone => running.is_empty(),
        Load::Little => count(Load::Little) == 0,
        Load::One | Load::All => computing < 2,
    };
    let last = |step: &Step| step.id == "unmodified";
    let can_start = |step: &Step| {
        let ready = !step.after.iter().any(|id| is_open(id));
        ready && fits(step) && (!last(step) || (waiting.len() == 1 && running.is_empty()))
    };
    let open = waiting.iter().enumerate().filter(|(_, step)| can_start(step));
    open.max_by_key(|(at, step)| {
        (step.id == "bare", step.load != Load::Alone, step.seconds, Reverse(*at))
    })
    .map(|(at, _)| at)
}

/// Returns the index in `waiting` of the first step that need not run again, and its row.
fn first_reusable(state: &State, waiting: &[&Step]) -> Option<(usize, Row)> {
    waiting.iter().enumerate().find_map(|(at, step)| Some((at, reusable(state, step)?)))
}

/// Returns the row of an earlier run, if that run need not be repeated. A step that lacked a
/// program is repeated, because the program may be installed by now.
fn reusable(state: &State, step: &Step) -> Option<Row> {
    let row = state.rows.get(step.id).filter(|_| step.id != "unmodified")?;
    matches!(row.outcome, Outcome::Passed(_) | Outcome::Missed(_)).then(|| row.clone())
}

/// Returns the first dependency of this step that failed.
fn lacking<'a>(step: &Step, rows: &'a [Row]) -> Option<&'a str> {
    let failed = |row: &&Row| {
        matches!(row.outcome, Outcome::Failed(_)) && step.after.contains(&row.id.as_str())
    };
    rows.iter().find(failed).map(|row| row.id.as_str())
}

fn start(v: &Verification, step: &'static Step) -> Result<Running> {
    let _ = fs::remove_file(ended(&v.root, step.id));
    let path = log(&v.root, step.id);
    let file =
        File::create(&path).with_context(|| format!("{} cannot be written", path.display()))?;
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let mut command = Command::new(program);
    command.args(["verify", "--step", step.id]).args(flags(&v.options)).current_dir(&v.root);
    // The seed depends on the date, which may change while the steps run.
    command.arg(format!("--seed={}", v.seed()));
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    // A separate process group, so that all child processes of the step end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn().context("a step cannot be started")?;
    Ok(Running { step, child, start: Instant::now() })
}

/// Returns the options for a step's process.
fn flags(options: &Options) -> Vec<String> {
    let mut flags = Vec::new();
    if options.full {
        flags.push("--full".to_owned());
    }
    if options.no_python {
        flags.push("--no-python".to_owned());
    }
    if options.whole {
        flags.push("--whole".to_owned());
    }
    if !options.tasks.is_empty() {
        flags.push(format!("--tasks={}", options.tasks.join(",")));
    }
    flags
}

fn finished(v: &Verification, step: &Step, clock: Duration) -> Row {
    let text = fs::read_to_string(ended(&v.root, step.id)).unwrap_or_default();
    let ended: Option<Ended> = serde_json::from_str(&text).ok();
    let (outcome, processor) = match ended {
        Some(Ended { outcome, processor }) => (outcome, processor),
        None => (Outcome::Failed("its process ended without an outcome".to_owned()), None),
    };
    Row { id: step.id.to_owned(), outcome, clock: clock.as_secs_f64(), processor }
}

/// Ends processes and their child processes, first with a termination signal, then by force.
fn end(running: &mut [Running]) {
    for wait in [Duration::from_secs(3), Duration::from_secs(1)] {
        for run in &mut *running {
            #[cfg(unix)]
            {
                use rustix::process::{Pid, Signal, kill_process_group};
                let signal = if wait.as_secs() > 1 { Signal::TERM } else { Signal::KILL };
                if let Some(group) = Pid::from_raw(run.child.id().cast_signed()) {
                    let _ = kill_process_group(group, signal);
                }
            }
            #[cfg(not(unix))]
            let _ = run.child.kill();
        }
        let start = Instant::now();
        while start.elapsed() < wait
            && running.iter_mut().any(|run| matches!(run.child.try_wait(), Ok(None)))
        {
            sleep(Duration::from_millis(50));
        }
    }
}

/// Shows the progress of a run.
struct Progress {
    root: PathBuf,
    cores: f64,
    /// Estimated processor seconds of each step on this machine.
    estimates: Vec<(&'static str, f64)>,
    total: usize,
    /// Whether the last line is rewritten.
    terminal: bool,
    json: bool,
    /// Whether the last lines of test programs are shown.
    closing: bool,
    done: BTreeSet<String>,
}

impl Progress {
    fn new(v: &Verification, state: &State, total: usize) -> Self {
        let time = measured(&v.root).map_or(REFERENCE, |time| time.as_secs_f64());
        let estimate = |step: &Step| {
            let unknown = f64::from(step.seconds) * (time / REFERENCE);
            (step.id, state.times.get(step.id).copied().unwrap_or(unknown))
        };
        Self {
            root: v.root.clone(),
            cores: available_parallelism().map_or(1.0, |cores| cores.get() as f64),
            estimates: step::STEPS.iter().map(estimate).collect(),
            total,
            terminal: stdout().is_terminal() && !v.options.json,
            json: v.options.json,
            closing: std::env::var_os("CI").is_some(),
            done: BTreeSet::new(),
        }
    }

    fn say(&self, line: &str) {
        self.clear();
        if self.json {
            let _ = writeln!(stderr(), "{line}");
        } else {
            let _ = writeln!(stdout(), "{line}");
        }
    }

    fn clear(&self) {
        if self.terminal {
            print!("\r\x1b[2K");
            let _ = stdout().flush();
        }
    }

    /// Formats the remaining work: `3 of 20 steps, about 4 min`.
    fn left(&self, waiting: &[&Step], running: &[Running]) -> String {
        let estimate = |id: &str| {
            self.estimates.iter().find(|(step, _)| *step == id).map_or(0.0, |(_, time)| *time)
        };
        // While steps share the cores, the processor time that each has used so far is unknown, so
        // its elapsed time is used instead.
        let now = running.iter().map(|run| (run.step, run.start.elapsed().as_secs_f64()));
        let later = waiting.iter().map(|step| (*step, 0.0));
        let (mut work, mut longest) = (0.0, 0.0_f64);
        for (step, elapsed) in now.chain(later) {
            let rest = (estimate(step.id) - elapsed).max(0.0);
            work += rest;
            if step.load != Load::All {
                longest = longest.max(rest);
            }
        }
        let seconds = longest.max(work / self.cores);
        let steps = waiting.len();
        let time = course::estimate::words(Duration::from_secs_f64(seconds));
        format!("{steps} of {} steps, {time}", self.total)
    }

    fn started(&self, step: &Step, waiting: &[&Step], running: &[Running]) {
        if !self.terminal {
            let left = self.left(waiting, running);
            self.say(&format!("{:<13}{} … ({left} left)", step.id, step.shows));
        }
    }

    fn draw(&self, waiting: &[&Step], running: &[Running]) {
        if !self.terminal {
            return;
        }
        let ids = running.iter().map(|run| {
            let seconds = run.start.elapsed().as_secs();
            format!("{} {}:{:02}", run.step.id, seconds / 60, seconds % 60)
        });
        let ids: Vec<String> = ids.collect();
        print!("\r\x1b[2K{}; {} left", ids.join(", "), self.left(waiting, running));
        let _ = stdout().flush();
    }

    fn finished(&mut self, row: &Row, waiting: &[&Step], running: &[Running]) {
        if !self.done.insert(row.id.clone()) {
            return;
        }
        self.say(&report::line(row));
        if matches!(row.outcome, Outcome::Failed(_)) {
            let path = log(&self.root, &row.id);
            let text = fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            for line in &lines[lines.len().saturating_sub(30)..] {
                self.say(&format!("  | {line}"));
            }
            for line in row.outcome.note().lines().take(30) {
                self.say(&format!("  {line}"));
            }
            let shown = path.strip_prefix(&self.root).unwrap_or(&path).display();
            self.say(&format!(
                "  full output: {shown}; to rerun: cargo course verify --only {}",
                row.id
            ));
        }
        if self.closing {
            let text = fs::read_to_string(log(&self.root, &row.id)).unwrap_or_default();
            text.lines().filter(|line| report::is_closing(line)).for_each(|line| self.say(line));
        }
        self.draw(waiting, running);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn steps(ids: &[&str]) -> Vec<&'static Step> {
        ids.iter().map(|id| step::named(id).unwrap()).collect()
    }

    /// Returns the name of the step that starts next while `running` run.
    fn first(waiting: &[&str], running: &[&str]) -> Option<&'static str> {
        let waiting = steps(waiting);
        let of = |step| {
            let child = Command::new("true").spawn().unwrap();
            Running { step, child, start: Instant::now() }
        };
        let mut running: Vec<Running> = steps(running).into_iter().map(of).collect();
        let found = next(&waiting, &running).map(|at| waiting[at].id);
        running.iter_mut().for_each(|run| drop(run.child.wait()));
        found
    }

    #[test]
    fn next_is_the_longest_step_that_fits() {
        let all = ["words", "units", "matrix", "runner", "unmodified"];
        assert_eq!(first(&all, &[]), Some("matrix"));
        assert_eq!(first(&["runner", "unmodified"], &[]), Some("runner"), "the others are done");
        assert_eq!(first(&["runner", "unmodified"], &["words"]), None, "it runs alone");
        assert_eq!(first(&all, &["runner"]), None, "its times would change");
        assert_eq!(first(&all, &["clippy"]), Some("matrix"));
        assert_eq!(first(&all, &["clippy", "real"]), None, "two compute");
        assert_eq!(first(&["units", "browser"], &["clippy", "real"]), Some("browser"));
        assert_eq!(first(&["copy", "units"], &[]), Some("copy"), "the others depend on it");
        assert_eq!(first(&["gpu"], &["bridge"]), None, "it changes the other's files");
        assert_eq!(first(&["unmodified"], &["browser"]), None, "it comes last");
        assert_eq!(first(&["unmodified"], &[]), Some("unmodified"));
    }
}

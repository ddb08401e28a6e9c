//! `cargo course grade`: runs this repository's tests on learners' files, each in a sandbox and
//! with limits.
//!
//! Of a submission, only the `.rs` files of the weeks are used. Three checks prevent undeserved
//! points:
//!
//! - A submission is [read](reader), [compiled](build) and run in a sandbox ([`wall`]).
//! - Its tests must pass.
//! - Its answers on inputs that are drawn for each grading must equal the reference's. They are
//!   compared in [another process](fresh).
//!
//! A fault of a submission affects only that submission. Only a fault of this repository or machine
//! ends the run. The book's page "For instructors" describes the remaining risks.

use std::{
    fs::{self, File},
    io::Write as _,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;

use crate::{
    curriculum::{Curriculum, Day},
    files::{utc_now, write_atomically},
};

mod build;
mod course;
mod day;
mod filter;
pub(crate) mod fresh;
mod image;
mod limited;
pub(crate) mod machine;
pub(crate) mod reader;
mod report;
mod score;
mod submission;
#[path = "../../../harness/src/tolerance.rs"]
#[allow(dead_code, unreachable_pub, reason = "only the harness needs the whole module")]
mod tolerance;
mod verdict;
mod wall;

use course::Course;
use day::{Allowance, Run};
use report::{Graded, Row};
use score::Points;
use submission::Submission;
use wall::Wall;

/// Folder of everything that a grading creates, except its results.
const FOLDER: &str = "target/grade/cell";

/// What to grade, and within which limits.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Learners' folders, each with src/week1/, week1/ or .rs files [default: your own src/]
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// File that lists more folders, one per line (paths relative to the file)
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Grade only these days, for example week1-day1,week1-day2
    #[arg(long, value_name = "DAYS", value_delimiter = ',')]
    days: Vec<String>,
    /// File of points per task, in lines such as "week1-day1.2" = 3 [default: 1 each]
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    /// Number of submissions to grade in parallel [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Maximum seconds for one test
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    test_limit: u64,
    /// Maximum seconds for the tests of a day
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: u64,
    /// Maximum seconds for a whole submission, including its build
    #[arg(long, value_name = "SECONDS", default_value_t = 1200, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    submission_limit: u64,
    /// Maximum address space of a test program, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(256..=1_048_576))]
    memory_limit: u64,
    /// Folder for the results [default: target/grade/TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Skip submissions whose results for the same days are already in --out
    #[arg(long, requires = "out")]
    resume: bool,
    /// If bubblewrap is not available, run submissions as your user, without a sandbox
    #[arg(long)]
    trust: bool,
}

/// The parsed options.
struct Plan<'a> {
    folders: Vec<(String, PathBuf)>,
    wall: Wall,
    days: Vec<&'a Day>,
    points: Points,
    jobs: usize,
    allowance: Allowance,
    out: PathBuf,
    resume: bool,
}

/// Grades submissions and prints a table. The exit code is 0 if all submissions were graded,
/// whatever their points, and 2 if the options are wrong.
///
/// # Errors
/// If the grading itself fails.
pub(crate) fn grade(root: &Path, curriculum: &Curriculum, options: &Options) -> Result<ExitCode> {
    let plan = match plan(root, curriculum, options) {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("error: {error:#}");
            return Ok(ExitCode::from(2));
        }
    };
    ctrlc::set_handler(|| {
        limited::end_running();
        std::process::exit(130);
    })
    .context("interrupts cannot be caught")?;
    let start = Instant::now();
    let folder = root.join(FOLDER);
    let _lock = lock(&folder)?;
    let course = Course::prepare(root, curriculum, &folder, &plan)?;
    for (day, reason) in &course.left_out {
        eprintln!("{day} is not graded: {reason}");
    }
    let features: Vec<&str> = course.days.iter().map(|day| day.feature.as_str()).collect();
    let reader = reader::copied(&folder)?;
    let grader = Grader { plan: &plan, course: &course, reader };
    let rows = grader.all(&features)?;

    if let [only] = rows.as_slice() {
        let results = plan.out.join(&only.submission).join("results.json");
        fs::copy(&results, plan.out.join("results.json"))
            .with_context(|| format!("{} cannot be copied", results.display()))?;
    }
    let mut suites = Vec::new();
    for row in &rows {
        let path = plan.out.join(&row.submission).join("junit.xml");
        suites.push(
            fs::read_to_string(&path)
                .with_context(|| format!("{} cannot be read", path.display()))?,
        );
    }
    write_atomically(&plan.out.join("junit.xml"), &report::all_junit(&suites, start.elapsed())?)?;
    print!("{}", report::table(&rows, &features));
    for (day, reason) in &course.left_out {
        println!("{day} is not graded: {reason}");
    }
    println!("Results: {}", plan.out.strip_prefix(root).unwrap_or(&plan.out).display());
    Ok(ExitCode::SUCCESS)
}

/// Checks the options before anything runs, and returns the plan that they describe.
fn plan<'a>(root: &Path, curriculum: &'a Curriculum, options: &Options) -> Result<Plan<'a>> {
    let mut folders = options.folders.clone();
    if let Some(list) = &options.list {
        let text = fs::read_to_string(list)
            .with_context(|| format!("{} cannot be read", list.display()))?;
        let lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        folders.extend(lines.map(|line| list.parent().unwrap_or(Path::new("")).join(line)));
        ensure!(!folders.is_empty(), "{} lists no folder", list.display());
    }
    let missing: Vec<String> = folders
        .iter()
        .filter(|folder| !folder.is_dir())
        .map(|folder| folder.display().to_string())
        .collect();
    ensure!(missing.is_empty(), "no such folder: {}", missing.join(", "));
    let own = folders.is_empty();
    if own {
        folders.push(root.to_owned());
    }
    let folders: Vec<(String, PathBuf)> =
        submission::names(&folders, &report::FILES).into_iter().zip(folders).collect();
    let wall = match Wall::find(&root.join(FOLDER)) {
        Ok(wall) => wall,
        Err(_) if own => Wall::None,
        Err(reason) => {
            accept(&reason, options.trust)?;
            Wall::None
        }
    };
    let mut days = Vec::new();
    for name in &options.days {
        let day = curriculum.day(name)?;
        ensure!(
            !days.iter().any(|known: &&Day| known.feature == day.feature),
            "--days names {name} twice"
        );
        days.push(day);
    }
    days = curriculum
        .days()
        .filter(|day| {
            options.days.is_empty() || days.iter().any(|chosen| chosen.feature == day.feature)
        })
        .collect();
    let points = options
        .points
        .as_ref()
        .map_or(Ok(Points::default()), |path| Points::load(path, curriculum))?;
    let out = options.out.clone().unwrap_or_else(|| root.join("target/grade").join(utc_now()));
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = options.jobs.map_or(processors, usize::from).min(folders.len());
    let allowance = Allowance {
        test: Duration::from_secs(options.test_limit),
        day: Duration::from_secs(options.time_limit),
        submission: Duration::from_secs(options.submission_limit),
        memory: options.memory_limit,
        threads: (processors / jobs).clamp(1, 4),
    };
    Ok(Plan { folders, wall, days, points, jobs, allowance, out, resume: options.resume })
}

/// Returns why this machine has no sandbox, or `None` if it has one.
pub(crate) fn without_wall(root: &Path) -> Option<String> {
    Wall::find(&root.join(FOLDER)).err()
}

/// Warns of the risks of running untrusted code without a sandbox. Fails unless `trust` is set.
fn accept(reason: &str, trust: bool) -> Result<()> {
    const OPEN: &str = "submitted code runs as your user, with your files and your network";
    ensure!(
        trust,
        "{reason}. Without bubblewrap, {OPEN}. Install it (`apt install bubblewrap`), or use \
         --trust to grade without a sandbox"
    );
    eprintln!("There is no sandbox ({reason}), so {OPEN} (--trust).");
    if !limited::MEMORY_IS_LIMITED {
        eprintln!("Memory is not limited on this system.");
    }
    Ok(())
}

/// Grades submissions.
struct Grader<'a> {
    plan: &'a Plan<'a>,
    course: &'a Course<'a>,
    /// The program that reads submissions.
    reader: PathBuf,
}

impl Grader<'_> {
    /// Grades all submissions, several at a time. The results of each are written as soon as they
    /// are known.
    fn all(&self, features: &[&str]) -> Result<Vec<Row>> {
        let plan = self.plan;
        let table = plan.out.join("table.csv");
        let cannot = || format!("{} cannot be written", table.display());
        write_atomically(&table, report::csv_head(features))?;
        let file = Mutex::new(File::options().append(true).open(&table).with_context(cannot)?);
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let one = |worker: usize, number: usize| -> Result<Row> {
            let (name, folder) = &plan.folders[number];
            let start = Instant::now();
            let (row, how) = match self.earlier(name, features) {
                Some(row) => (row, "kept".to_owned()),
                None => {
                    let row = self.grade(name, folder, worker)?;
                    (row, format!("{:.1} s", start.elapsed().as_secs_f64()))
                }
            };
            file.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .write_all(row.csv().as_bytes())
                .with_context(cannot)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            eprintln!("[{done}/{}] {name}: {} ({how})", plan.folders.len(), row.cells());
            Ok(row)
        };
        let work = |worker: usize| -> Result<Vec<(usize, Row)>> {
            let mut rows = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= plan.folders.len() {
                    return Ok(rows);
                }
                rows.push((number, one(worker, number)?));
            }
        };
        let results: Vec<Result<Vec<(usize, Row)>>> = thread::scope(|scope| {
            let workers: Vec<_> =
                (0..plan.jobs).map(|worker| scope.spawn(move || work(worker))).collect();
            let end = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|_| Err(anyhow!("a grader panicked")))
            };
            workers.into_iter().map(end).collect()
        });
        let mut rows = Vec::new();
        for result in results {
            rows.extend(result?);
        }
        rows.sort_by_key(|(number, _)| *number);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Returns the results of an earlier run for the same days, if they should be kept.
    fn earlier(&self, name: &str, features: &[&str]) -> Option<Row> {
        let folder = self.plan.out.join(name);
        let results = fs::read_to_string(folder.join("results.json"));
        let row = Row::of(name, &results.ok().filter(|_| self.plan.resume)?)?;
        let same = row.days.iter().map(|(day, _)| day.as_str()).eq(features.iter().copied());
        (same && folder.join("junit.xml").is_file()).then_some(row)
    }

    /// Grades one submission and writes its results.
    fn grade(&self, name: &str, folder: &Path, worker: usize) -> Result<Row> {
        let (plan, course) = (self.plan, self.course);
        let found = reader::read(&plan.wall, &self.reader, folder);
        let submission = Submission::new(found, &course.stubs, &course.needed());
        let mut remarks = submission.findings.clone();
        remarks
            .extend(course.left_out.iter().map(|(day, why)| format!("{day} is not graded: {why}")));
        if !limited::MEMORY_IS_LIMITED {
            remarks.push("memory: not limited on this system".to_owned());
        }
        let workshop = course.workshop(&plan.wall, worker);
        let mut run = Run::new(&workshop, &course.fresh, plan.allowance);
        let mut results = Vec::new();
        if let Some(refused) = &submission.refused {
            let reason = format!("not graded: {refused}");
            for day in &course.days {
                results.push(day::not_run(&day.feature, course.expected(day), &reason));
            }
        } else {
            workshop.lay_out(&submission.files, &course.stubs)?;
            let built = workshop.build(&course.days, run.end())?;
            for day in &course.days {
                results.push(run.day(day, course.expected(day), &built[&day.feature])?);
            }
        }
        workshop.clear();
        let borrowed = score::borrowed(&submission);
        let days = course.days.iter().zip(results).map(|(day, result)| {
            let tasks = score::tasks(day, &result, &plan.points, &borrowed);
            (result, tasks)
        });
        let graded = Graded { days: days.collect(), name: name.to_owned(), remarks };
        let out = plan.out.join(name);
        write_atomically(&out.join("output.txt"), &run.log)?;
        write_atomically(&out.join("junit.xml"), &report::junit(&graded)?)?;
        // Written last: a resumed run takes this file as proof that all results are there.
        write_atomically(&out.join("results.json"), &graded.gradescope()?)?;
        Ok(graded.row())
    }
}

/// Locks this repository's grading until the file is closed.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
    fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be created", folder.display()))?;
    let taken = || {
        format!("{}: another `cargo course grade` is running in this repository", path.display())
    };
    let file = options.open(&path).with_context(taken)?;
    #[cfg(unix)]
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .with_context(taken)?;
    Ok(file)
}

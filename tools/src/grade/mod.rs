//! `cargo course grade`: runs learners' trees on this repository's tests, each in a clean copy and
//! within limits.
//!
//! Of a submission nothing is used but its `src/week*/*.rs`. A fault of one submission is a finding
//! about that one and nothing else; only a fault of this repository or machine ends a run. The
//! book's page "For instructors" says what is isolated and what is not.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::{
    curriculum::{Curriculum, Day},
    files::{utc_now, write_atomically},
};

mod build;
mod day;
mod flags;
mod limited;
mod mirror;
mod orphans;
mod report;
mod sandbox;
mod score;
mod submission;
mod trust;

use limited::Limits;
use report::Graded;
use sandbox::Sandbox;
use score::Points;
use submission::Submission;

/// What to grade, and within which limits.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Learners' folders: clones of the course, folders with week1/ in them, or loose .rs files.
    /// None: your own src/
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// A file with more folders, one a line, relative to the file
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Only these days: week1-day1,week1-day2
    #[arg(long, value_name = "DAYS", value_delimiter = ',')]
    days: Vec<String>,
    /// Points for tasks, as lines "week1-day1.2" = 3; a task that is not named gives 1
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    /// Seconds for a day's tests
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: u64,
    /// Address space of a test program, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(256..=1_048_576))]
    memory_limit: u64,
    /// Where the results go; without it, target/grade/<UTC time>
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run strangers' code although this looks like neither a container nor continuous integration
    #[arg(long)]
    trust: bool,
}

/// What the options come to.
struct Plan<'a> {
    folders: Vec<PathBuf>,
    days: Vec<&'a Day>,
    points: Points,
    limits: Limits,
    out: PathBuf,
}

/// Grades, and prints a table. The exit code is 0 if all submissions were graded, whatever their
/// points, and 2 if the options are wrong.
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
    orphans::adopt();
    ctrlc::set_handler(|| {
        limited::end_running();
        std::process::exit(130);
    })
    .context("interrupts cannot be caught")?;
    let start = Instant::now();
    let mut sandbox = Sandbox::open(root, curriculum)?;
    sandbox.lay_out(None)?;
    sandbox::fetch(&sandbox)?;
    eprintln!("building the libraries and the tests");
    let manifest =
        fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml cannot be read")?;
    let groups = build::groups(&manifest, &plan.days)?;
    let mut expected = BTreeMap::new();
    for (feature, program) in build::base(&sandbox, &plan.days, &groups)? {
        let tests = build::tests(&sandbox, &program)?;
        expected.insert(feature, tests);
    }
    let mut all = Vec::new();
    for (number, (name, folder)) in
        submission::names(&plan.folders).into_iter().zip(&plan.folders).enumerate()
    {
        let submission_start = Instant::now();
        if sandbox.copy_base()?.is_none() {
            eprintln!(
                "the libraries' build folder was changed while a submission ran; it is built again"
            );
            fs::remove_dir_all(sandbox.base())
                .context("the libraries' build folder cannot be removed")?;
            build::base(&sandbox, &plan.days, &groups)?;
            ensure!(
                sandbox.copy_base()?.is_some(),
                "the libraries' build folder changes while nothing runs"
            );
        }
        let graded = one(&sandbox, curriculum, &plan, &groups, &expected, name, folder)?;
        let cells: Vec<String> = graded
            .days
            .iter()
            .enumerate()
            .map(|(day, (result, _))| format!("{} {}", result.feature, graded.cell(day)))
            .collect();
        let seconds = submission_start.elapsed().as_secs_f64();
        eprintln!(
            "[{}/{}] {}: {} ({seconds:.1} s)",
            number + 1,
            plan.folders.len(),
            graded.name,
            cells.join(", ")
        );
        all.push(graded);
    }
    if let [only] = all.as_slice() {
        write_atomically(&plan.out.join("results.json"), &only.gradescope()?)?;
    }
    write_atomically(&plan.out.join("junit.xml"), &report::junit(&all, start.elapsed())?)?;
    let features: Vec<&str> = plan.days.iter().map(|day| day.feature.as_str()).collect();
    print!("{}", report::table(&all, &features));
    println!("Results: {}", plan.out.strip_prefix(root).unwrap_or(&plan.out).display());
    Ok(ExitCode::SUCCESS)
}

/// Checks the options before anything runs.
fn plan<'a>(root: &Path, curriculum: &'a Curriculum, options: &Options) -> Result<Plan<'a>> {
    let mut folders = options.folders.clone();
    if let Some(list) = &options.list {
        let text = fs::read_to_string(list)
            .with_context(|| format!("{} cannot be read", list.display()))?;
        let lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        folders.extend(lines.map(|line| list.parent().unwrap_or(Path::new("")).join(line)));
        ensure!(!folders.is_empty(), "{} names no folder", list.display());
    }
    let missing: Vec<String> = folders
        .iter()
        .filter(|folder| !folder.is_dir())
        .map(|folder| folder.display().to_string())
        .collect();
    ensure!(missing.is_empty(), "no such folder: {}", missing.join(", "));
    if folders.is_empty() {
        folders.push(root.to_owned());
    } else {
        let advice = "Run it in a container that you throw away.";
        match trust::evidence() {
            Some(evidence) => {
                eprintln!("This runs code that strangers wrote, with your rights ({evidence}).");
            }
            None if options.trust => {
                eprintln!(
                    "This runs code that strangers wrote, with your rights, on this machine (--trust). {advice}"
                );
            }
            None => bail!(
                "this would run code that strangers wrote, with your rights, and this machine looks like neither a container nor continuous integration. {advice} --trust runs it all the same"
            ),
        }
        if !limited::MEMORY_IS_LIMITED {
            eprintln!("Memory is not limited on this system.");
        }
    }
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
    let limits = Limits {
        time: Duration::from_secs(options.time_limit),
        memory: options.memory_limit,
        output: 1 << 20,
    };
    Ok(Plan { folders, days, points, limits, out })
}

/// Judges one submission and writes its results.
fn one(
    sandbox: &Sandbox,
    curriculum: &Curriculum,
    plan: &Plan,
    groups: &[Vec<&Day>],
    expected: &BTreeMap<String, Vec<String>>,
    name: String,
    folder: &Path,
) -> Result<Graded> {
    let needed: BTreeSet<&str> =
        plan.days.iter().flat_map(|day| &day.tasks).map(|task| task.file.as_str()).collect();
    let submission = Submission::read(name, folder, curriculum, sandbox.stubs(), &needed);
    let mut remarks = Vec::new();
    if !submission.form.is_empty() {
        remarks.push(format!("read as {}", submission.form));
    }
    remarks.extend(submission.findings.iter().cloned());
    if !limited::MEMORY_IS_LIMITED {
        remarks.push("memory: not limited on this system".to_owned());
    }
    let mut run = day::Run { sandbox, limits: plan.limits, log: String::new() };
    let mut results = Vec::new();
    if let Some(refused) = &submission.refused {
        let reason = format!("not graded: {refused}");
        results.extend(
            plan.days
                .iter()
                .map(|day| day::not_run(&day.feature, &expected[&day.feature], &reason)),
        );
    } else {
        sandbox.lay_out(Some(&submission))?;
        let built = build::submission(sandbox, &plan.days, groups)?;
        for day in &plan.days {
            results.push(run.day(&day.feature, &expected[&day.feature], &built[&day.feature])?);
        }
    }
    let borrowed = score::borrowed(&submission);
    let days = plan.days.iter().zip(results).map(|(day, result)| {
        let tasks = score::tasks(day, &result, &plan.points, &borrowed);
        (result, tasks)
    });
    let graded =
        Graded { days: days.collect(), name: submission.name, remarks, flags: submission.flags };
    let out = plan.out.join(&graded.name);
    write_atomically(&out.join("output.txt"), &run.log)?;
    write_atomically(&out.join("results.json"), &graded.gradescope()?)?;
    Ok(graded)
}

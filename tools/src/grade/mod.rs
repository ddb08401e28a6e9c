//! `cargo course grade`: runs learners' trees on this repository's tests, each behind a wall and
//! within limits.
//!
//! Of a submission nothing is used but its `src/week*/*.rs`. Four things stand between it and
//! points that it did not earn, in this order: its text is [read](allowed) before anything is
//! built; it is compiled ([`build`]) and run behind a [`wall`]; its tests must pass; and its
//! answers on inputs that were drawn for this grading must be the reference's, which are compared
//! [here](fresh) and not where it runs. A fault of one submission is a finding about that one and
//! nothing else; only a fault of this repository or machine ends a run. The book's page "For
//! instructors" says what is left.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::{
    curriculum::{Curriculum, Day},
    files::{utc_now, write_atomically},
    stubs::generated,
};

mod allowed;
mod build;
mod day;
mod filter;
pub(crate) mod fresh;
mod image;
mod limited;
mod report;
mod score;
mod submission;
mod trust;
mod verdict;
mod wall;

use build::Workshop;
use fresh::Fresh;
use image::Image;
use limited::Limits;
use report::Graded;
use score::Points;
use submission::Submission;
use wall::Wall;

/// Where everything lies that a grading makes, but for its results.
const FOLDER: &str = "target/grade/cell";

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
    /// Where the results go; without it, a folder below target/grade, named after the time
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Submissions whose lines "look at: …" you have looked at: they are graded all the same
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    allow: Vec<String>,
    /// Run strangers' code without a wall, as you, where bubblewrap does not work
    #[arg(long)]
    trust: bool,
}

/// What the options come to.
struct Plan<'a> {
    folders: Vec<(String, PathBuf)>,
    /// Names of submissions that are graded whatever their text says.
    allowed: BTreeSet<String>,
    wall: Wall,
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
    ctrlc::set_handler(|| {
        limited::end_running();
        std::process::exit(130);
    })
    .context("interrupts cannot be caught")?;
    let start = Instant::now();
    let folder = root.join(FOLDER);
    let _lock = lock(&folder)?;
    eprintln!("building the libraries and the reference's tests");
    let image = Image::make(root, &folder, &plan.days)?;
    let mut expected = BTreeMap::new();
    for day in &plan.days {
        expected.insert(day.feature.clone(), image.tests(day)?);
    }
    let fresh = Fresh::draw(&image, &plan.days)?;
    eprintln!("drawn for this grading: {fresh}");
    let manifest =
        fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml cannot be read")?;
    let grader = Grader {
        curriculum,
        plan: &plan,
        stubs: generated(root, curriculum)?.into_iter().map(|f| (f.path, f.stub)).collect(),
        workshop: Workshop {
            root,
            image: &image,
            wall: &plan.wall,
            scratch: folder.join("scratch"),
            features: build::features(&manifest, &plan.days)?,
        },
        expected,
        fresh,
    };
    let mut all = Vec::new();
    for (number, (name, folder)) in plan.folders.iter().enumerate() {
        let submission_start = Instant::now();
        let graded = grader.grade(name, folder);
        grader.workshop.clear();
        let graded = graded?;
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
    let own = folders.is_empty();
    if own {
        folders.push(root.to_owned());
    }
    let folders: Vec<(String, PathBuf)> =
        submission::names(&folders).into_iter().zip(folders).collect();
    let mut allowed: BTreeSet<String> = options.allow.iter().cloned().collect();
    let known = |name: &&String| folders.iter().any(|(known, _)| known == *name);
    if let Some(unknown) = allowed.iter().find(|name| !known(name)) {
        bail!("--allow names {unknown}, which is no submission here");
    }
    if own {
        allowed.extend(folders.iter().map(|(name, _)| name.clone()));
    }
    let wall = match Wall::find(&root.join(FOLDER)) {
        Ok(wall) => wall,
        Err(_) if own => Wall::None,
        Err(reason) => {
            without_wall(&reason, options.trust)?;
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
    let limits = Limits {
        time: Duration::from_secs(options.time_limit),
        memory: options.memory_limit,
        output: 1 << 20,
    };
    Ok(Plan { folders, allowed, wall, days, points, limits, out })
}

/// Says what strangers' code can do without a wall, or refuses to run it.
fn without_wall(reason: &str, trust: bool) -> Result<()> {
    const OPEN: &str = "strangers' code runs as you, with your files and your network";
    match trust::evidence() {
        Some(evidence) => eprintln!("There is no wall ({reason}): {OPEN}. This is {evidence}."),
        None if trust => eprintln!("There is no wall ({reason}): {OPEN} (--trust)."),
        None => bail!(
            "{reason}. Without it {OPEN}, and this machine looks like neither a container nor \
             continuous integration. Install bubblewrap (`apt install bubblewrap`), or run this in \
             a container that you throw away; --trust runs it all the same"
        ),
    }
    if !limited::MEMORY_IS_LIMITED {
        eprintln!("Memory is not limited on this system.");
    }
    Ok(())
}

/// Everything that judges submissions, one after the other.
struct Grader<'a> {
    curriculum: &'a Curriculum,
    plan: &'a Plan<'a>,
    /// `src/week1/attention.rs` → the stub.
    stubs: BTreeMap<String, String>,
    workshop: Workshop<'a>,
    /// `week1-day1` → its tests.
    expected: BTreeMap<String, Vec<String>>,
    fresh: Fresh,
}

impl Grader<'_> {
    /// Judges one submission and writes its results.
    fn grade(&self, name: &str, folder: &Path) -> Result<Graded> {
        let plan = self.plan;
        let needed: BTreeSet<&str> =
            plan.days.iter().flat_map(|day| &day.tasks).map(|task| task.file.as_str()).collect();
        let mut submission =
            Submission::read(name.to_owned(), folder, self.curriculum, &self.stubs, &needed);
        if !submission.flags.is_empty() && !plan.allowed.contains(name) {
            submission.refused.get_or_insert_with(|| {
                format!("an instructor must look at it first: {}", submission.flags.join(", "))
            });
        }
        let mut remarks = Vec::new();
        if !submission.form.is_empty() {
            remarks.push(format!("read as {}", submission.form));
        }
        remarks.extend(submission.findings.iter().cloned());
        if !limited::MEMORY_IS_LIMITED {
            remarks.push("memory: not limited on this system".to_owned());
        }
        let mut run = day::Run {
            workshop: &self.workshop,
            fresh: &self.fresh,
            limits: plan.limits,
            log: String::new(),
        };
        let mut results = Vec::new();
        if let Some(refused) = &submission.refused {
            let reason = format!("not graded: {refused}");
            for day in &plan.days {
                results.push(day::not_run(&day.feature, &self.expected[&day.feature], &reason));
            }
        } else {
            self.workshop.lay_out(&submission, &self.stubs)?;
            let built = self.workshop.build(&plan.days)?;
            for day in &plan.days {
                let expected = &self.expected[&day.feature];
                results.push(run.day(day, expected, &built[&day.feature])?);
            }
        }
        let borrowed = score::borrowed(&submission);
        let days = plan.days.iter().zip(results).map(|(day, result)| {
            let tasks = score::tasks(day, &result, &plan.points, &borrowed);
            (result, tasks)
        });
        let graded = Graded {
            days: days.collect(),
            name: submission.name,
            remarks,
            flags: submission.flags,
        };
        let out = plan.out.join(&graded.name);
        write_atomically(&out.join("output.txt"), &run.log)?;
        write_atomically(&out.join("results.json"), &graded.gradescope()?)?;
        Ok(graded)
    }
}

/// Holds this repository's grading until the file is closed.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let taken =
        || format!("{}: another `cargo course grade` runs in this repository", path.display());
    let file = options.open(&path).with_context(taken)?;
    #[cfg(unix)]
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .with_context(taken)?;
    Ok(file)
}

//! The common data of all submissions: the libraries, the tests, and the reference's answers.
//!
//! The reference is graded first, like a submission. If it does not pass a day here (for example
//! without a graphics processor), the day cannot be graded on this machine, and is left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use super::{
    Plan,
    build::{self, Workshop},
    day::Run,
    fresh::Fresh,
    image::Image,
    machine,
    verdict::{Test, Verdict},
    wall::Wall,
};
use crate::{
    curriculum::{Curriculum, Day},
    libtest::own_name,
    process::run_quietly,
    stubs::generated,
};

/// The feature of the learner's crate that needs a graphics processor.
const GRAPHICS: &str = "gpu";

pub(super) struct Course<'a> {
    root: &'a Path,
    folder: PathBuf,
    image: Image,
    /// The features of the learner's crate that each day needs.
    features: BTreeMap<String, BTreeSet<String>>,
    /// Stubs by path, such as `src/week1/attention/attention.rs`.
    pub(super) stubs: BTreeMap<String, String>,
    /// The graded days.
    pub(super) days: Vec<&'a Day>,
    /// Days that this machine cannot grade, with the reasons.
    pub(super) left_out: Vec<(String, String)>,
    /// For each day, such as `week1-day1`, the paths of its tests in the test program.
    expected: BTreeMap<String, Vec<String>>,
    pub(super) fresh: Fresh,
}

impl<'a> Course<'a> {
    /// Builds the libraries, and grades the reference.
    ///
    /// # Errors
    /// If something does not build, or no day is left.
    pub(super) fn prepare(
        root: &'a Path,
        curriculum: &Curriculum,
        folder: &Path,
        plan: &Plan<'a>,
    ) -> Result<Self> {
        let manifest =
            fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml cannot be read")?;
        let features = build::features(&manifest, &plan.days)?;
        let (mut days, mut left_out) = (plan.days.clone(), Vec::new());
        if let Some(why) = machine::without_graphics() {
            days.retain(|day| {
                let graded = !features[&day.feature].contains(GRAPHICS);
                if !graded {
                    left_out.push((day.feature.clone(), why.clone()));
                }
                graded
            });
        }
        ensure!(!days.is_empty(), "no day can be graded here: {}", shown(&left_out));
        eprintln!("building the libraries");
        let image = Image::make(root, folder, &days)?;
        let files = generated(root, curriculum)?;
        let solution: BTreeMap<String, String> =
            files.iter().map(|file| (file.path.clone(), file.template.render(|_| true))).collect();
        let mut course = Self {
            root,
            folder: folder.to_owned(),
            image,
            features,
            stubs: files.into_iter().map(|file| (file.path, file.stub)).collect(),
            days,
            left_out,
            expected: BTreeMap::new(),
            fresh: Fresh::new(),
        };
        course.grade_reference(&solution, plan)?;
        ensure!(!course.days.is_empty(), "no day can be graded here: {}", shown(&course.left_out));
        Ok(course)
    }

    /// Returns the workshop in which the worker number `worker` builds one submission after the
    /// other.
    pub(super) fn workshop<'w>(&'w self, wall: &'w Wall, worker: usize) -> Workshop<'w> {
        Workshop {
            root: self.root,
            image: &self.image,
            wall,
            scratch: self.folder.join(format!("scratch/{worker}")),
            kept: self.folder.join("kept"),
            features: &self.features,
        }
    }

    pub(super) fn expected(&self, day: &Day) -> &[String] {
        &self.expected[&day.feature]
    }

    /// Returns the files that contain the days' tasks.
    pub(super) fn needed(&self) -> BTreeSet<&str> {
        self.days.iter().flat_map(|day| &day.tasks).map(|task| task.file.as_str()).collect()
    }

    /// Grades the reference, whose files are `solution`. Stores its tests and answers. Leaves out
    /// the days that it does not pass.
    fn grade_reference(&mut self, solution: &BTreeMap<String, String>, plan: &Plan) -> Result<()> {
        eprintln!("grading the reference");
        let workshop = self.workshop(&plan.wall, 0);
        let mut fresh = Fresh::new();
        let mut expected = BTreeMap::new();
        let mut reasons = Vec::new();
        let _ = fs::remove_dir_all(&workshop.kept);
        workshop.lay_out(solution, &self.stubs)?;
        let end = std::time::Instant::now() + plan.allowance.submission;
        let built = workshop.build(&self.days, end)?;
        workshop.keep()?;
        for day in &self.days {
            let program = built[&day.feature]
                .as_ref()
                .map_err(|error| anyhow::anyhow!("the reference, {}: {error}", day.feature))?;
            let tests = tests(program, day)?;
            let run = Run::new(&workshop, &fresh, plan.allowance);
            let limits = run.limits(plan.allowance.day);
            let drawn = fresh.draw(&workshop, day, program, &limits);
            let failure = match drawn {
                Err(error) => Some(format!("{error:#}")),
                Ok(()) => {
                    let mut run = Run::new(&workshop, &fresh, plan.allowance);
                    let result = run.day(day, &tests, &built[&day.feature])?;
                    result.tests.iter().find_map(failure)
                }
            };
            expected.insert(day.feature.clone(), tests);
            reasons.extend(failure.map(|why| (day.feature.clone(), why)));
        }
        workshop.clear();
        self.days.retain(|day| reasons.iter().all(|(feature, _)| *feature != day.feature));
        self.left_out.extend(reasons);
        (self.fresh, self.expected) = (fresh, expected);
        eprintln!("the reference on fresh random inputs: {}", self.fresh);
        Ok(())
    }
}

/// Returns why the reference fails a test, or `None` if it passes.
fn failure(test: &Test) -> Option<String> {
    match &test.verdict {
        Verdict::Passed => None,
        Verdict::Failed { message, .. } | Verdict::NotRun(message) => {
            let lacking = message.strip_prefix("not verified: ");
            Some(lacking.map_or_else(
                || format!("the reference fails {} on this machine: {message}", test.name),
                str::to_owned,
            ))
        }
    }
}

fn shown(left_out: &[(String, String)]) -> String {
    left_out.iter().map(|(day, why)| format!("{day}: {why}")).collect::<Vec<_>>().join("; ")
}

/// Returns the paths of the day's tests in the program, sorted by name, without those on fresh
/// inputs and those for other processors.
fn tests(program: &Path, day: &Day) -> Result<Vec<String>> {
    let list = |ignored: &[&str]| -> Result<BTreeSet<String>> {
        let mut command = Command::new(program);
        command.args(["--list", "--format=terse", "--skip", "::fresh::"]).args(ignored);
        let listed = run_quietly(&mut command)?;
        let paths = listed.output.lines().filter_map(|line| line.strip_suffix(": test"));
        let of_day = |path: &&str| path.split("::").next() == Some(&day.module());
        Ok(paths.filter(of_day).map(str::to_owned).collect())
    };
    let ignored = list(&["--ignored"])?;
    let mut tests: Vec<String> =
        list(&[])?.into_iter().filter(|path| !ignored.contains(path)).collect();
    tests.sort_by(|a, b| own_name(a).cmp(own_name(b)));
    ensure!(!tests.is_empty(), "{} lists no tests of {}", program.display(), day.feature);
    Ok(tests)
}

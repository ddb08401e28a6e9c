//! Compiles a submission by calling the compiler without cargo, so that no settings, build scripts
//! or files of other crates are used.
//!
//! The learner's crate is compiled with the features of all days. If that fails, the crate is
//! compiled once for each group of days that need the same parts of it, just as a learner on day 2
//! doesn't build the code of day 5. So a fault in a later day's file does not affect earlier days.
//!
//! The tests of all days are one program. If it does not compile, the days that the compiler's
//! errors mention are removed from it.
//!
//! Common code is compiled once, with the reference. Each submission gets a copy of the compiler's
//! cache (`-C incremental`), and compiles only what it changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context, Result};
use toml::Table;

use super::{
    image::Image,
    limited::{Ended, Limits},
    wall::{Kind, Shut, Wall},
};
use crate::{curriculum::Day, files::list};

/// Processor time limit of a call of the compiler, in seconds. Each day adds [`SECONDS_PER_DAY`].
const SECONDS: u64 = 20;
const SECONDS_PER_DAY: u64 = 5;
/// Memory limit of a call of the compiler, in MiB.
const MEMORY: u64 = 4096;
/// Maximum number of bytes that are kept of the beginning of the compiler's errors, and of the end.
const ERRORS: usize = 16 << 10;

/// Name of the folder of the compiler's cache.
const INCREMENTAL: &str = "incremental";

/// A day's test program, or why there is none.
pub(super) type Built = Result<PathBuf, String>;

/// The result of a failed compilation.
struct Refused {
    errors: String,
    /// Whether the compiler ended without a verdict, for example at a time limit. If so, there is
    /// no second try.
    late: bool,
}

/// Everything that is needed to build a submission.
pub(super) struct Workshop<'a> {
    /// The course's folder. In the sandbox, a submission's `src` and `provided` replace those of
    /// this folder.
    pub(super) root: &'a Path,
    pub(super) image: &'a Image,
    pub(super) wall: &'a Wall,
    /// Folder for the files of the current submission.
    pub(super) scratch: PathBuf,
    /// Folder with the compiler's cache from the build of the reference.
    pub(super) kept: PathBuf,
    /// The features of the learner's crate that each day needs.
    pub(super) features: &'a BTreeMap<String, BTreeSet<String>>,
}

impl Workshop<'_> {
    /// Clears the folder for a submission. Writes the stubs, the submission's files over them, and
    /// the provided files. Also copies the compiler's cache.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn lay_out(
        &self,
        submission: &BTreeMap<String, String>,
        stubs: &BTreeMap<String, String>,
    ) -> Result<()> {
        self.clear();
        fs::create_dir_all(self.scratch.join("out"))
            .with_context(|| format!("{} cannot be created", self.scratch.display()))?;
        if self.kept.is_dir() {
            copy_all(&self.kept, &self.incremental())
                .with_context(|| format!("{} cannot be copied", self.kept.display()))?;
        }
        let mut ours = BTreeSet::from(["src/lib.rs".into()]);
        list(self.root, Path::new("provided"), &mut ours)?;
        let mut files = stubs.clone();
        files.extend(submission.clone());
        for path in ours {
            let text = fs::read_to_string(self.root.join(&path))
                .with_context(|| format!("{} cannot be read", path.display()))?;
            files.insert(path.to_string_lossy().into_owned(), text);
        }
        for (path, text) in files {
            let path = self.scratch.join(path);
            let folder = path.parent().unwrap_or(Path::new(""));
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, text))
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(())
    }

    /// Saves the compiler's cache from the reference's build, for all submissions.
    ///
    /// # Errors
    /// If it cannot be moved.
    pub(super) fn keep(&self) -> Result<()> {
        fs::rename(self.incremental(), &self.kept)
            .with_context(|| format!("{} cannot be created", self.kept.display()))
    }

    /// Removes the files of a submission.
    pub(super) fn clear(&self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }

    /// Compiles the days' tests with the current submission. Everything must be done by `end`.
    ///
    /// # Errors
    /// If the compiler cannot be started.
    pub(super) fn build(&self, days: &[&Day], end: Instant) -> Result<BTreeMap<String, Built>> {
        let groups = self.groups(days);
        let mut all = BTreeMap::new();
        let refused = match self.compiled(days, end)? {
            Ok(library) => {
                self.programs(days, &library, end, &mut all)?;
                return Ok(all);
            }
            Err(refused) => refused,
        };
        if refused.late || groups.len() == 1 {
            return Ok(each(days, &refused));
        }
        for group in groups {
            match self.compiled(&group, end)? {
                Ok(library) => self.programs(&group, &library, end, &mut all)?,
                Err(refused) => all.extend(each(&group, &refused)),
            }
        }
        Ok(all)
    }

    /// Groups days that need the same features.
    fn groups<'d>(&self, days: &[&'d Day]) -> Vec<Vec<&'d Day>> {
        let mut groups: Vec<Vec<&Day>> = Vec::new();
        for day in days {
            let needs = &self.features[&day.feature];
            match groups.iter_mut().find(|group| self.features[&group[0].feature] == *needs) {
                Some(group) => group.push(day),
                None => groups.push(vec![day]),
            }
        }
        groups
    }

    /// Compiles the learner's crate with all features that these days need.
    fn compiled(&self, days: &[&Day], end: Instant) -> Result<Result<PathBuf, Refused>> {
        let library = self.out_inside().join("libtiny_llm.rlib");
        let mut arguments = self.arguments("tiny_llm", days);
        arguments.extend(["--crate-type=rlib", "src/lib.rs"].map(Into::into));
        // At level 1, the compiler would use the libraries' unoptimized instances of generic
        // functions.
        arguments.extend(["-Copt-level=2", "-Clto=off", "-o"].map(Into::into));
        arguments.push(library.clone().into());
        Ok(self.compile(arguments, days.len(), end)?.map(|()| library))
    }

    /// Compiles the tests of these days as one program. If that does not compile, tries again
    /// without the days that the errors mention. If they mention none, tries each day separately.
    fn programs(
        &self,
        days: &[&Day],
        library: &Path,
        end: Instant,
        built: &mut BTreeMap<String, Built>,
    ) -> Result<()> {
        let mut left = days.to_vec();
        while let Some(first) = left.first() {
            let name = format!("{}-{}-graded", first.module(), left.len());
            let (program, inside) = (self.out().join(&name), self.out_inside().join(&name));
            let Err(refused) = self.program(&left, library, &inside, end)? else {
                let each = left.iter().map(|day| (day.feature.clone(), Ok(program.clone())));
                built.extend(each);
                break;
            };
            if refused.late || left.len() == 1 {
                built.extend(each(&left, &refused));
                break;
            }
            let count = left.len();
            let about = |day: &&Day| names(&refused.errors, &day.module());
            let (bad, good): (Vec<&Day>, Vec<&Day>) = left.into_iter().partition(about);
            built.extend(each(&bad, &refused));
            if good.len() == count {
                for day in good {
                    self.programs(&[day], library, end, built)?;
                }
                break;
            }
            left = good;
        }
        Ok(())
    }

    fn program(
        &self,
        days: &[&Day],
        library: &Path,
        program: &Path,
        end: Instant,
    ) -> Result<Result<(), Refused>> {
        let mut arguments = self.arguments("graded", days);
        arguments.extend(["--test".into(), "--cfg=feature=\"fresh\"".into()]);
        let ours = ("tiny_llm".to_owned(), library.to_owned());
        let imports = self.image.imports_of_tests.iter().chain([&ours]);
        arguments.extend(imports.map(import));
        arguments.push(self.image.tests.join("all.rs").into());
        arguments.extend(["-o".into(), program.into()]);
        self.compile(arguments, days.len(), end)
    }

    /// Returns the compiler's options for the crate `name`, with the features that `days` need.
    fn arguments(&self, name: &str, days: &[&Day]) -> Vec<OsString> {
        let features: BTreeSet<&String> = days
            .iter()
            .flat_map(|day| self.features[&day.feature].iter().chain([&day.feature]))
            .collect();
        let mut all: Vec<OsString> = vec![format!("--crate-name={name}").into()];
        // The course's lints are for learners. Here only the compiler's own errors count.
        all.extend(["--edition=2024", "-Awarnings", "--color=never"].map(Into::into));
        all.extend(["-Ccodegen-units=64", "-Cembed-bitcode=no"].map(Into::into));
        // An overflow panics, as in the learner's own builds. Debug assertions are disabled,
        // because those of the standard library take time to compile and to run.
        all.extend(["-Coverflow-checks=yes", "-Cdebug-assertions=no"].map(Into::into));
        let incremental = self.out_inside().join(INCREMENTAL);
        all.push(format!("-Cincremental={}", incremental.display()).into());
        all.push(format!("--remap-path-prefix={}/=", self.root.display()).into());
        all.push(format!("--remap-path-prefix={}=tests", self.image.tests.display()).into());
        all.push(format!("-Ldependency={}", self.image.libraries.display()).into());
        all.extend(features.iter().map(|name| format!("--cfg=feature={name:?}").into()));
        all.extend(self.image.imports.iter().map(import));
        all
    }

    fn compile(
        &self,
        arguments: Vec<OsString>,
        days: usize,
        end: Instant,
    ) -> Result<Result<(), Refused>> {
        let (out, inside) = (self.out(), self.out_inside());
        let mut seen: Vec<(PathBuf, PathBuf)> =
            same([&self.image.toolchain, &self.image.libraries, &self.image.tests]);
        // In the sandbox, the submission's files have the same paths as the instructor's own files.
        for folder in ["src", "provided"] {
            seen.push((self.scratch.join(folder), self.root.join(folder)));
        }
        let folder = if self.wall.stands() { self.root } else { &self.scratch };
        let shut = Shut {
            kind: Kind::Compiler,
            program: &self.image.toolchain.join("bin/rustc"),
            arguments,
            folder,
            variables: vec![
                ("PATH".to_owned(), std::env::var_os("PATH").unwrap_or_default()),
                ("CARGO_MANIFEST_DIR".to_owned(), self.root.into()),
                ("TMPDIR".to_owned(), "/tmp".into()),
            ],
            seen,
            written: Some((&out, &inside)),
        };
        let time = end.saturating_duration_since(Instant::now());
        let processor = SECONDS + SECONDS_PER_DAY * days as u64;
        let limits = Limits { time, silence: time, processor, memory: MEMORY, output: 2 * ERRORS };
        let ended = self.wall.run(shut, &limits)?;
        Ok(match ended.status {
            Some(status) if status.success() => Ok(()),
            Some(status) if status.code() == Some(1) => {
                Err(Refused { errors: format!("does not compile\n{}", ended.stderr), late: false })
            }
            _ => {
                Err(Refused { errors: format!("the build {}", ended.reason(&limits)), late: true })
            }
        })
    }

    /// Runs a test program of the submission.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) fn test(
        &self,
        program: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
        limits: &Limits,
    ) -> Result<Ended> {
        let (fixtures, models) = (self.root.join("tests/fixtures"), self.root.join("models"));
        let mut all = vec![("TMPDIR".to_owned(), OsString::from("/tmp"))];
        all.push(("RUST_BACKTRACE".to_owned(), "0".into()));
        all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
        let shut = Shut {
            kind: Kind::Tests,
            program,
            arguments: arguments.iter().map(Into::into).collect(),
            folder: Path::new("/tmp"),
            variables: all,
            seen: same([&fixtures, &models, program]),
            written: None,
        };
        self.wall.run(shut, limits)
    }

    fn out(&self) -> PathBuf {
        self.scratch.join("out")
    }

    /// Returns the path of `out` in the sandbox. It is the same for every worker, because the
    /// compiler ignores its cache if the path of its output differs.
    fn out_inside(&self) -> PathBuf {
        if self.wall.stands() { "/out".into() } else { self.out() }
    }

    fn incremental(&self) -> PathBuf {
        self.out().join(INCREMENTAL)
    }
}

/// Copies a folder and its contents.
fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn import((name, file): &(String, PathBuf)) -> OsString {
    format!("--extern={name}={}", file.display()).into()
}

/// Maps each path to itself.
fn same<const N: usize>(paths: [impl AsRef<Path>; N]) -> Vec<(PathBuf, PathBuf)> {
    paths.iter().map(|path| (path.as_ref().to_owned(), path.as_ref().to_owned())).collect()
}

/// Returns this failure as the result of each day.
fn each(days: &[&Day], refused: &Refused) -> BTreeMap<String, Built> {
    days.iter().map(|day| (day.feature.clone(), Err(refused.errors.clone()))).collect()
}

/// Returns whether the compiler's errors mention a file of this day's tests.
fn names(errors: &str, module: &str) -> bool {
    let places = errors.lines().filter_map(|line| line.trim().strip_prefix("--> tests/"));
    let mut parts = places.map(|place| place.strip_prefix("fresh/").unwrap_or(place));
    parts.any(|place| {
        place
            .strip_prefix(module)
            .is_some_and(|rest| rest.starts_with(".rs:") || rest.starts_with('/'))
    })
}

/// Returns, for each day, the features that the day's feature enables in the learner's
/// `Cargo.toml`.
///
/// # Errors
/// If `Cargo.toml` is malformed.
pub(super) fn features(
    manifest: &str,
    days: &[&Day],
) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let manifest: Table = manifest.parse().context("Cargo.toml is malformed")?;
    let table = manifest.get("features").and_then(toml::Value::as_table);
    let next = |feature: &str| -> Vec<String> {
        let list = table.and_then(|table| table.get(feature)).and_then(toml::Value::as_array);
        let names = list.into_iter().flatten().filter_map(toml::Value::as_str);
        // Libraries are built with all features, so features of dependencies don't matter.
        names.filter(|name| !name.contains([':', '/'])).map(str::to_owned).collect()
    };
    let mut features = BTreeMap::new();
    for day in days {
        let (mut found, mut open) = (BTreeSet::new(), next(&day.feature));
        while let Some(feature) = open.pop() {
            open.extend(next(&feature));
            found.insert(feature);
        }
        features.insert(day.feature.clone(), found);
    }
    Ok(features)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    #[test]
    fn names_finds_the_days_in_compiler_errors() {
        let errors = "error[E0061]: x\n  --> tests/week1_day1/task_2.rs:3:5\n\
                      error: y\n   --> tests/fresh/week1_day3.rs:1:1\n  --> tests/week1_day12.rs:1:1\n";
        let found = ["week1_day1", "week1_day2", "week1_day3"].map(|day| names(errors, day));
        assert_eq!(found, [true, false, true]);
        assert!(!names("error: x\n --> src/week1_day1.rs:1:1", "week1_day1"));
    }

    #[test]
    fn features_are_transitive_and_omit_dependencies() {
        let curriculum = curriculum();
        let days: Vec<&Day> = curriculum.days().collect();
        let manifest = "[features]\nweek1-day1 = []\nweek1-day2 = [\"text\", \"dep:x\"]\n\
                        text = [\"model\", \"formats/text\"]\nmodel = []\n";
        let found = features(manifest, &days).unwrap();
        assert!(found["week1-day1"].is_empty());
        assert_eq!(found["week1-day2"], BTreeSet::from(["model", "text"].map(str::to_owned)));
    }
}

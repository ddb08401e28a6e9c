//! Compiling a submission: the compiler alone, without cargo, so that no setting, no build script
//! and no file of another crate is looked for.
//!
//! The learner's crate is compiled with the features of all days. If it does not compile so, days
//! that need the same parts of it are compiled together, as a learner who is at day 2 builds
//! nothing of day 5: so a fault in a later day's file does not cost the earlier days.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use toml::Table;

use super::{
    image::Image,
    limited::{Ended, Limits},
    submission::Submission,
    wall::{Kind, Shut, Wall},
};
use crate::curriculum::Day;

/// How long each call of the compiler may take.
const TIME: Duration = Duration::from_secs(120);
/// The compiler's own memory counts here, MiB.
const MEMORY: u64 = 4096;
/// How much of the compiler's errors is kept.
const ERRORS: usize = 16 << 10;

/// A day's test program, or why there is none.
pub(super) type Built = Result<PathBuf, String>;

/// Everything that a submission is built from.
pub(super) struct Workshop<'a> {
    /// The course. Inside the wall a submission's files stand in its place.
    pub(super) root: &'a Path,
    pub(super) image: &'a Image,
    pub(super) wall: &'a Wall,
    /// A folder for one submission at a time.
    pub(super) scratch: PathBuf,
    /// Each day with the features that the learner's crate needs for it.
    pub(super) features: BTreeMap<String, BTreeSet<String>>,
}

impl Workshop<'_> {
    /// Puts the submission's files over the stubs, in an empty folder.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn lay_out(
        &self,
        submission: &Submission,
        stubs: &BTreeMap<String, String>,
    ) -> Result<()> {
        self.clear();
        fs::create_dir_all(self.scratch.join("out"))
            .with_context(|| format!("{} cannot be made", self.scratch.display()))?;
        let lib = fs::read_to_string(self.root.join("src/lib.rs")).context("src/lib.rs")?;
        let files = stubs.iter().chain(&submission.code);
        for (path, text) in files.chain([(&"src/lib.rs".to_owned(), &lib)]) {
            let path = self.scratch.join(path);
            let folder = path.parent().unwrap_or(Path::new(""));
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, text))
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(())
    }

    /// Takes away what a submission left.
    pub(super) fn clear(&self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }

    /// Compiles the days' tests on the submission that is laid out.
    ///
    /// # Errors
    /// If the compiler cannot be started.
    pub(super) fn build(&self, days: &[&Day]) -> Result<BTreeMap<String, Built>> {
        let built = self.together(days)?;
        let groups = self.groups(days);
        if groups.len() == 1 || built.values().any(Result::is_ok) {
            return Ok(built);
        }
        let mut apart = BTreeMap::new();
        for group in groups {
            apart.extend(self.together(&group)?);
        }
        Ok(apart)
    }

    /// Days that need the same features.
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

    fn together(&self, days: &[&Day]) -> Result<BTreeMap<String, Built>> {
        let features: BTreeSet<&String> = days
            .iter()
            .flat_map(|day| self.features[&day.feature].iter().chain([&day.feature]))
            .collect();
        let library = self.out().join("libtiny_llm.rlib");
        let mut arguments = self.arguments("tiny_llm", &features);
        arguments.extend(["--crate-type=rlib", "src/lib.rs", "-o"].map(Into::into));
        arguments.push(library.clone().into());
        if let Err(errors) = judge(&self.compile(arguments)?) {
            return Ok(days.iter().map(|day| (day.feature.clone(), Err(errors.clone()))).collect());
        }
        let mut built = BTreeMap::new();
        for day in days {
            let program = self.out().join(day.module() + "-graded");
            let mut arguments = self.arguments(&day.module(), &features);
            arguments.extend(["--test".into(), "--cfg=feature=\"fresh\"".into()]);
            let ours = ("tiny_llm".to_owned(), library.clone());
            let imports = self.image.imports_of_tests.iter().chain([&ours]);
            arguments.extend(imports.map(import));
            arguments.push(self.root.join("tests").join(day.module() + ".rs").into());
            arguments.extend(["-o".into(), program.clone().into()]);
            let verdict = judge(&self.compile(arguments)?).map(|()| program);
            built.insert(day.feature.clone(), verdict);
        }
        Ok(built)
    }

    /// What the compiler is told of every crate.
    fn arguments(&self, name: &str, features: &BTreeSet<&String>) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![format!("--crate-name={name}").into()];
        // The course's lints are for learners; here only the compiler's own errors count.
        all.extend(["--edition=2024", "-Awarnings", "--color=never"].map(Into::into));
        all.push(format!("--remap-path-prefix={}/=", self.root.display()).into());
        all.push(format!("-Ldependency={}", self.image.libraries.display()).into());
        all.extend(features.iter().map(|name| format!("--cfg=feature={name:?}").into()));
        all.extend(self.image.imports.iter().map(import));
        all
    }

    fn compile(&self, arguments: Vec<OsString>) -> Result<Ended> {
        let tests = self.root.join("tests");
        let out = self.out();
        let mut seen: Vec<(PathBuf, PathBuf)> =
            same([&self.image.toolchain, &self.image.libraries]);
        // Inside the wall the submission stands where the instructor's own files are outside.
        seen.push((self.scratch.join("src"), self.root.join("src")));
        // The tests' programs and their modules; what else is in tests/ holds solutions.
        for entry in fs::read_dir(&tests).context("tests/ cannot be listed")? {
            let path = entry?.path();
            let program = path.extension().is_some_and(|extension| extension == "rs");
            let of_program = path.with_extension("rs").is_file();
            if program || of_program || path.join("mod.rs").is_file() || path.ends_with("fresh") {
                seen.push((path.clone(), path));
            }
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
            written: Some(&out),
        };
        let limits = Limits { time: TIME, memory: MEMORY, output: 2 * ERRORS };
        self.wall.run(shut, &limits)
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
}

fn import((name, file): &(String, PathBuf)) -> OsString {
    format!("--extern={name}={}", file.display()).into()
}

/// Each under its own path.
fn same<const N: usize>(paths: [impl AsRef<Path>; N]) -> Vec<(PathBuf, PathBuf)> {
    paths.iter().map(|path| (path.as_ref().to_owned(), path.as_ref().to_owned())).collect()
}

/// Whether the compiler was content; if not, what it said.
fn judge(ended: &Ended) -> Result<(), String> {
    match ended.status {
        Some(status) if status.success() => Ok(()),
        None => Err(format!("the build was ended after {} s, the time limit", TIME.as_secs())),
        Some(_) => Err(format!("does not compile\n{}", ended.stderr)),
    }
}

/// Each day with the features of the learner's crate that its own turns on, by `Cargo.toml`.
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
        // Libraries are built with all features, so those of dependencies are of no account.
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
    fn features_follow_each_other_and_leave_out_those_of_libraries() {
        let curriculum = curriculum();
        let days: Vec<&Day> = curriculum.days().collect();
        let manifest = "[features]\nweek1-day1 = []\nweek1-day2 = [\"text\", \"dep:x\"]\n\
                        text = [\"model\", \"formats/text\"]\nmodel = []\n";
        let found = features(manifest, &days).unwrap();
        assert!(found["week1-day1"].is_empty());
        assert_eq!(found["week1-day2"], BTreeSet::from(["model", "text"].map(str::to_owned)));
    }
}

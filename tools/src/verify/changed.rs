//! `--changed`: selects the steps and tasks that changes since a revision can affect.
//!
//! Each step lists the crates and folders that it reads. Cargo's metadata gives the dependencies
//! between crates, and the marked regions of the reference show which tasks a change affects.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::step::{Reads, Step};
use crate::{
    curriculum::Curriculum,
    process::{cargo, run_quietly},
    template::Template,
};

/// Folders inside a crate's folder that are not part of any crate: the bank, held-out mistakes, and
/// hostile submissions.
const DATA: [&str; 4] = ["tests/wrong/", "tests/alternate/", "tests/held-out/", "tests/hostile/"];

/// A crate: the folders of its files, and its dependencies in the workspace, except those of its
/// tests.
#[derive(Debug, Default)]
struct Package {
    folders: Vec<String>,
    needs: Vec<String>,
}

/// The crates of the workspace, by name.
#[derive(Debug)]
struct Packages(BTreeMap<String, Package>);

impl Packages {
    fn of(root: &Path) -> Result<Self> {
        let mut command = cargo(root);
        command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
        let finished = run_quietly(&mut command)?;
        ensure!(finished.status.success(), "cargo metadata fails:\n{}", finished.tail(5));
        let metadata: Value = serde_json::from_str(&finished.output)?;
        let root = metadata["workspace_root"].as_str().context("a workspace has a root")?;
        let relative = |path: &Value| {
            let path = path.as_str()?.strip_prefix(root)?.trim_start_matches(['/', '\\']);
            Some(path.replace('\\', "/"))
        };
        let mut packages = BTreeMap::new();
        for package in metadata["packages"].as_array().into_iter().flatten() {
            let folder = relative(&package["manifest_path"]).unwrap_or_default();
            let folder = folder.trim_end_matches("Cargo.toml").to_owned();
            let targets = package["targets"].as_array().into_iter().flatten();
            let of_target = |target: &Value| {
                let path = relative(&target["src_path"])?;
                Some(
                    path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/")),
                )
            };
            // The root crate's folder contains everything, so its own files are those in the
            // folders of its targets.
            let mut folders: Vec<String> = if folder.is_empty() {
                targets.filter_map(of_target).chain(["Cargo.toml".to_owned()]).collect()
            } else {
                vec![folder]
            };
            let name = package["name"].as_str().unwrap_or_default().to_owned();
            if name == "tiny-llm-reference" {
                folders.push("provided/".to_owned());
            }
            let needs = package["dependencies"].as_array().into_iter().flatten();
            // A step that runs tests lists the tests' dependencies itself.
            let needs = needs.filter(|need| need["path"].is_string() && need["kind"] != "dev");
            let needs = needs.filter_map(|need| need["name"].as_str().map(str::to_owned)).collect();
            packages.insert(name, Package { folders, needs });
        }
        Ok(Self(packages))
    }

    /// Returns whether the build of the crate `name` or of its dependencies reads the file `path`.
    fn read(&self, name: &str, path: &str) -> Result<bool> {
        let (mut open, mut seen) = (vec![name.to_owned()], BTreeSet::new());
        while let Some(name) = open.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let package = self.0.get(&name).with_context(|| format!("there is no crate {name}"))?;
            let data = DATA.iter().any(|folder| path.starts_with(folder));
            if !data && package.folders.iter().any(|folder| path.starts_with(folder.as_str())) {
                return Ok(true);
            }
            open.extend(package.needs.iter().cloned());
        }
        // Files that affect the build of all crates.
        Ok(["Cargo.lock", ".cargo/", "rust-toolchain"].iter().any(|start| path.starts_with(start)))
    }
}

/// The changed files and tasks.
pub(super) struct Changes {
    paths: Vec<String>,
    packages: Packages,
    /// The tasks that the changes affect. `None` if the changes may affect more than tasks.
    tasks: Option<BTreeSet<String>>,
}

impl Changes {
    /// Returns all changes since a revision, including files that git does not track yet.
    ///
    /// # Errors
    /// If git has no such revision.
    pub(super) fn since(root: &Path, curriculum: &Curriculum, revision: &str) -> Result<Self> {
        let git = |arguments: &[&str]| -> Result<String> {
            let finished = run_quietly(Command::new("git").args(arguments).current_dir(root))
                .context("git cannot be started")?;
            ensure!(finished.status.success(), "git: {}", finished.text.trim());
            Ok(finished.output)
        };
        let changed = git(&["diff", "--name-only", "--no-renames", revision, "--"])?;
        let untracked = git(&["ls-files", "--others", "--exclude-standard"])?;
        let paths: BTreeSet<String> =
            changed.lines().chain(untracked.lines()).map(str::to_owned).collect();
        let paths: Vec<String> = paths.into_iter().collect();
        let mut all = Some(BTreeSet::new());
        for path in &paths {
            let text = |revision: &str| git(&["show", &format!("{revision}:{path}")]).ok();
            let new = std::fs::read_to_string(root.join(path)).ok();
            let concerned = tasks_of(path, curriculum, || Some((text(revision)?, new?)))?;
            all = match (all, concerned) {
                (Some(mut all), Concern::Tasks(tasks)) => {
                    all.extend(tasks);
                    Some(all)
                }
                (all, Concern::None) => all,
                (_, Concern::More) | (None, _) => None,
            };
        }
        Ok(Self { paths, packages: Packages::of(root)?, tasks: all })
    }

    /// Returns the tasks to which the steps `replay` and `mistakes` are restricted. The list is
    /// empty if they are not.
    pub(super) fn tasks(&self) -> Vec<String> {
        self.tasks.iter().flatten().cloned().collect()
    }

    /// Returns whether a step reads something that has changed. If not, returns the reason to skip
    /// it.
    ///
    /// # Errors
    /// If a step lists a crate that does not exist.
    pub(super) fn concern(&self, step: &Step) -> Result<Result<(), String>> {
        for path in &self.paths {
            for reads in step.reads {
                let concerned = match reads {
                    Reads::All => true,
                    Reads::Path(start) => path.starts_with(start),
                    Reads::Package(name) => self.packages.read(name, path)?,
                };
                if concerned {
                    return Ok(Ok(()));
                }
            }
        }
        Ok(Err(match self.paths.len() {
            0 => "nothing has changed".to_owned(),
            1 => format!("does not read {}", self.paths[0]),
            n => format!("reads none of the {n} changed files"),
        }))
    }
}

/// The tasks that a change to a file affects.
#[derive(Debug, PartialEq, Eq)]
enum Concern {
    None,
    Tasks(BTreeSet<String>),
    /// The change may affect more than tasks.
    More,
}

/// Returns the tasks that a change to the file `path` affects. `versions` returns the old and the
/// new text of the file, if both exist.
fn tasks_of(
    path: &str,
    curriculum: &Curriculum,
    versions: impl FnOnce() -> Option<(String, String)>,
) -> Result<Concern> {
    let of_day = |module: &str| {
        let day = curriculum.days().find(|day| module.starts_with(&day.module()))?;
        Some(Concern::Tasks(day.tasks().map(|(id, _)| id.to_string()).collect()))
    };
    let bank = DATA[..3].iter().find_map(|folder| path.strip_prefix(folder));
    if let Some(name) = bank.or_else(|| path.strip_prefix("tests/")) {
        return Ok(of_day(name).unwrap_or(Concern::More));
    }
    if path.starts_with("src/week") {
        // This file is generated from the reference. The step `stubs` checks it.
        return Ok(Concern::None);
    }
    if !path.starts_with("reference/src/") {
        let compiled =
            ["kernels/", "formats/", "harness/", "Cargo", ".cargo/", "gpu/", "provided/"];
        let more = compiled.iter().any(|start| path.starts_with(start));
        return Ok(if more { Concern::More } else { Concern::None });
    }
    let Some((old, new)) = versions() else { return Ok(Concern::More) };
    let parse = |text: &str| Template::parse(path, text, curriculum);
    let (Ok(old), new) = (parse(&old), parse(&new)?) else { return Ok(Concern::More) };
    if old.stub() != new.stub() {
        return Ok(Concern::More);
    }
    let bodies = |template: &Template| {
        let mut bodies: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for region in template.regions() {
            bodies.entry(region.task.to_string()).or_default().extend(region.body(""));
        }
        bodies
    };
    let (old, new) = (bodies(&old), bodies(&new));
    let differs = |task: &&String| old.get(*task) != new.get(*task);
    Ok(Concern::Tasks(old.keys().chain(new.keys()).filter(differs).cloned().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{context::Size, step::STEPS};

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    /// Returns the steps that a change to one file affects, except those that read everything.
    fn concerned(path: &str) -> Vec<&'static str> {
        let changes = Changes {
            paths: vec![path.to_owned()],
            packages: Packages::of(root()).unwrap(),
            tasks: None,
        };
        let concerned = |step: &&Step| {
            changes.concern(step).unwrap().is_ok() && !step.reads.contains(&Reads::All)
        };
        STEPS.iter().filter(concerned).map(|step| step.id).collect()
    }

    #[test]
    fn a_change_in_each_folder_runs_the_steps_that_read_it() {
        for (path, runs, leaves_out) in [
            (
                "reference/src/week1/norm_mlp/norm.rs",
                "build replay mistakes bridge units clippy",
                "book",
            ),
            ("src/week1/norm_mlp/norm.rs", "stubs build", "server grade"),
            ("provided/week3/batching/pass.rs", "build replay bridge clippy", "stubs fixtures"),
            ("kernels/src/vector.rs", "replay mistakes engine arm orders", "book fixtures"),
            ("formats/src/bytes.rs", "replay bridge fuzz", "book"),
            ("harness/src/diagnosis.rs", "replay mistakes", "engine book"),
            ("server/src/routes.rs", "engine server units", "replay mistakes grade"),
            ("schema/src/lib.rs", "engine", "mistakes"),
            ("cli/src/chat.rs", "engine cli", "mistakes fixtures"),
            ("gpu/src/lib.rs", "gpu wheel", "book fixtures"),
            ("web/src/exports.rs", "browser", "replay"),
            ("course/src/cli.rs", "runner trace", "replay bridge"),
            ("course/book-builder/src/main.rs", "build", "replay"),
            ("tools/src/main.rs", "units bare", "replay engine"),
            ("tests/week2_day1/task_1.rs", "replay mistakes days", "server fixtures"),
            ("tests/wrong/week1_day1.txt", "mistakes matrix", "replay bridge"),
            ("tests/held-out/week1_day1.txt", "matrix", "replay mistakes"),
            ("tests/fixtures/week1_day1.json", "replay fixtures", "server"),
            ("tests/hostile/a.rs", "grade", "replay mistakes"),
            ("tests/cli/main.rs", "cli", "fixtures"),
            ("tests/serve/main.rs", "server", "fixtures"),
            ("python-ref/oracle/week1_day1.py", "fixtures bridge", "replay grade"),
            ("python-ref/bridge/src/lib.rs", "bridge wheel", "replay"),
            ("book/src/week1/day1.md", "book browser", "replay fixtures"),
            ("python-ref/real/test_text.py", "real bridge", "replay fixtures"),
            ("models/tiny-story/config.json", "engine models", "mistakes"),
            ("fuzz/fuzz_targets/gguf.rs", "fuzz", "replay"),
            ("cluster/app.py", "cluster", "replay"),
            ("pyproject.toml", "python fixtures bridge", "replay"),
            ("Cargo.lock", "build replay clippy", "fixtures"),
        ] {
            let found = concerned(path);
            for step in runs.split(' ') {
                assert!(found.contains(&step), "{path} does not run {step}: {found:?}");
            }
            for step in leaves_out.split(' ') {
                assert!(!found.contains(&step), "{path} runs {step}: {found:?}");
            }
        }
    }

    #[test]
    fn steps_read_only_existing_crates() {
        let packages = Packages::of(root()).unwrap();
        for step in STEPS.iter().filter(|step| step.size <= Size::Full) {
            for reads in step.reads {
                if let Reads::Package(name) = reads {
                    packages.read(name, "nowhere").unwrap();
                }
            }
        }
    }

    #[test]
    fn a_changed_body_affects_only_its_task() {
        let curriculum = Curriculum::load(root()).unwrap();
        let path = "reference/src/week1/norm_mlp/norm.rs";
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        let at = text.find("// END SOLUTION").unwrap();
        let with = |more: &str, at: usize| format!("{}{more}{}", &text[..at], &text[at..]);
        let concern =
            |new: String| tasks_of(path, &curriculum, || Some((text.clone(), new))).unwrap();
        let Concern::Tasks(tasks) = concern(with("let x = 1;\n        ", at)) else {
            panic!("a body concerns a task")
        };
        assert_eq!(tasks.len(), 1, "{tasks:?}");
        assert_eq!(concern(with("//! More.\n", 0)), Concern::More);
        let of = |path: &str| tasks_of(path, &curriculum, || None).unwrap();
        assert_eq!(of("book/src/week1/day1.md"), Concern::None);
        assert_eq!(of("kernels/src/vector.rs"), Concern::More);
        let Concern::Tasks(tasks) = of("tests/wrong/week1_day4.txt") else {
            panic!("a file of the bank concerns its day")
        };
        assert!(tasks.iter().all(|task| task.starts_with("week1-day4 task ")), "{tasks:?}");
    }
}

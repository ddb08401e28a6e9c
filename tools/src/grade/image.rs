//! What every submission starts from, made once from the instructor's own files: the libraries, and
//! the reference's test programs, which never go where a submission runs.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::{
    curriculum::Day,
    libtest::own_name,
    process::{self, run_quietly},
};

/// The learner's crate and the reference; every other package is a library to a submission.
const OURS: [&str; 2] = ["tiny-llm", "tiny-llm-reference"];

/// The libraries and the reference's programs.
pub(super) struct Image {
    /// Copies of all libraries, and nothing else.
    pub(super) libraries: PathBuf,
    /// What the learner's crate imports: crate → file in `libraries`.
    pub(super) imports: Imports,
    /// What its tests import besides.
    pub(super) imports_of_tests: Imports,
    /// `week1-day1` → the reference's test program.
    pub(super) programs: BTreeMap<String, PathBuf>,
    /// The compiler's folder, with its own libraries.
    pub(super) toolchain: PathBuf,
}

/// What of cargo's messages is used.
#[derive(Deserialize)]
struct Artifact {
    package_id: String,
    target: Target,
    filenames: Vec<PathBuf>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// What of `cargo metadata` is used.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Import>,
}

#[derive(Deserialize)]
struct Import {
    name: String,
    pkg: String,
    dep_kinds: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    /// `dev` for tests alone.
    kind: Option<String>,
}

impl Image {
    /// Builds the days' tests on the reference, and gathers the libraries in `folder`.
    ///
    /// # Errors
    /// If the build fails: nothing can be graded then.
    pub(super) fn make(root: &Path, folder: &Path, days: &[&Day]) -> Result<Self> {
        let mut features = vec!["reference", "fresh"];
        features.extend(days.iter().map(|day| day.feature.as_str()));
        let features = features.join(",");

        let mut command = process::cargo(root);
        command.args(["build", "--locked", "--quiet", "--message-format=json-render-diagnostics"]);
        command.args(["--features", &features]);
        for day in days {
            command.args(["--test", &day.module()]);
        }
        command.env("CARGO_TARGET_DIR", folder.join("build"));
        for (name, value) in [
            ("CARGO_INCREMENTAL", "0"),
            ("CARGO_PROFILE_DEV_DEBUG", "0"),
            ("RUSTFLAGS", "-Awarnings"),
        ] {
            command.env(name, value);
        }
        let built = run_quietly(&mut command)?;
        ensure!(
            built.status.success(),
            "the reference's tests cannot be built:\n{}",
            built.tail(20)
        );
        let artifacts: Vec<Artifact> =
            built.output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();

        let mut programs = BTreeMap::new();
        for day in days {
            let program = artifacts
                .iter()
                .filter(|artifact| artifact.target.name == day.module())
                .find_map(|artifact| artifact.executable.clone());
            let program = program.with_context(|| format!("no test program of {}", day.feature))?;
            programs.insert(day.feature.clone(), program);
        }
        let metadata = metadata(root, &features)?;
        let libraries = folder.join("libraries");
        let (imports, imports_of_tests) = gather(&metadata, &artifacts, &libraries)?;
        let toolchain = toolchain(root)?;
        Ok(Self { libraries, imports, imports_of_tests, programs, toolchain })
    }
}

impl Image {
    /// The day's tests, without those on fresh inputs: their names with the modules that they stand
    /// in, in the order of the names without.
    ///
    /// # Errors
    /// If the reference's program does not list any.
    pub(super) fn tests(&self, day: &Day) -> Result<Vec<String>> {
        let program = &self.programs[&day.feature];
        let mut command = Command::new(program);
        command.args(["--list", "--format=terse", "--skip", "fresh::"]);
        let listed = run_quietly(&mut command)?;
        let names = listed.output.lines().filter_map(|line| line.strip_suffix(": test"));
        let mut tests: Vec<String> = names.map(str::to_owned).collect();
        tests.sort_by(|a, b| own_name(a).cmp(own_name(b)));
        ensure!(!tests.is_empty(), "{} lists no tests: {}", program.display(), listed.text);
        Ok(tests)
    }
}

fn metadata(root: &Path, features: &str) -> Result<Metadata> {
    let mut command = process::cargo(root);
    command.args(["metadata", "--locked", "--quiet", "--format-version=1", "--features", features]);
    let listed = run_quietly(&mut command)?;
    ensure!(listed.status.success(), "`cargo metadata` failed:\n{}", listed.tail(20));
    serde_json::from_str(&listed.output).context("`cargo metadata` said something else than JSON")
}

/// Crates, each with its file.
type Imports = Vec<(String, PathBuf)>;

/// Copies the libraries to `folder`; returns what the learner's crate imports, and what its tests
/// import besides.
fn gather(
    metadata: &Metadata,
    artifacts: &[Artifact],
    folder: &Path,
) -> Result<(Imports, Imports)> {
    let package = |id: &str| metadata.packages.iter().find(|package| package.id == id);
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let mut copies: BTreeMap<&str, PathBuf> = BTreeMap::new();
    for artifact in artifacts {
        let name = package(&artifact.package_id).map(|package| package.name.as_str());
        // A package that nobody knows is none of the libraries.
        if name.is_none_or(|name| OURS.contains(&name)) {
            continue;
        }
        for file in &artifact.filenames {
            let extension = file.extension().and_then(|extension| extension.to_str());
            let (Some("rlib" | "rmeta" | "so" | "dylib" | "dll"), Some(name)) =
                (extension, file.file_name())
            else {
                continue;
            };
            let copy = folder.join(name);
            fs::copy(file, &copy)
                .with_context(|| format!("{} cannot be copied", file.display()))?;
            if extension != Some("rmeta") {
                copies.insert(&artifact.package_id, copy);
            }
        }
    }
    let learner = metadata.packages.iter().find(|package| package.name == OURS[0]);
    let node = metadata.resolve.nodes.iter().find(|node| Some(&node.id) == learner.map(|l| &l.id));
    let Some(node) = node else { bail!("`cargo metadata` does not know {}", OURS[0]) };
    let imports = |of_tests: bool| {
        let wanted = move |import: &&Import| {
            import.dep_kinds.iter().all(|kind| kind.kind.as_deref() == Some("dev")) == of_tests
        };
        let imports = node.deps.iter().filter(wanted);
        let file =
            |import: &Import| Some((import.name.clone(), copies.get(import.pkg.as_str())?.clone()));
        imports.filter_map(file).collect()
    };
    Ok((imports(false), imports(true)))
}

/// Where the compiler lies that cargo uses here.
fn toolchain(root: &Path) -> Result<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.current_dir(root).args(["--print", "sysroot"]);
    let printed = run_quietly(&mut command)?;
    ensure!(printed.status.success(), "`rustc --print sysroot` failed:\n{}", printed.tail(5));
    Ok(PathBuf::from(printed.output.trim()))
}

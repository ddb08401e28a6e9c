//! The common files of all submissions, created once from the instructor's own files: the libraries
//! and the tests.

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
    process::{self, run_quietly},
};

/// The learner's crate and the reference. For a submission, every other package is a library.
const OURS: [&str; 2] = ["tiny-llm", "tiny-llm-reference"];

/// Test target of the learner's crate that contains no tests. Building it builds the libraries of
/// all tests.
const PLAIN_TEST: &str = "start_here";

/// Libraries in which the tests spend most of their time. They are built once, at optimization
/// level 1, and used for each submission. At level 2, the compiler would no longer share instances
/// of their generic functions with the tests.
const OPTIMIZED: [&str; 4] = ["ndarray", "serde_json", "tiny-llm-formats", "tiny-llm-harness"];

/// The libraries and the tests.
pub(super) struct Image {
    /// Folder with copies of all libraries, and nothing else.
    pub(super) libraries: PathBuf,
    /// The crates that the learner's crate imports, with their files in `libraries`.
    pub(super) imports: Imports,
    /// The crates that only the tests import, in the same form.
    pub(super) imports_of_tests: Imports,
    /// Folder with copies of the days' tests, and `all.rs`, a program that contains all of them.
    pub(super) tests: PathBuf,
    /// The compiler's folder, with its own libraries.
    pub(super) toolchain: PathBuf,
}

/// The fields that are read from cargo's messages.
#[derive(Deserialize)]
struct Artifact {
    package_id: String,
    filenames: Vec<PathBuf>,
}

/// The fields that are read from the output of `cargo metadata`.
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
    /// `dev` if only tests need the dependency.
    kind: Option<String>,
}

impl Image {
    /// Builds the libraries that the days need, and copies them and the tests to `folder`.
    ///
    /// # Errors
    /// If the build fails. Nothing can be graded then.
    pub(super) fn make(root: &Path, folder: &Path, days: &[&Day]) -> Result<Self> {
        let mut features = vec!["reference", "fresh"];
        features.extend(days.iter().map(|day| day.feature.as_str()));
        let features = features.join(",");

        let mut command = process::cargo(root);
        command.args(["build", "--locked", "--quiet", "--message-format=json-render-diagnostics"]);
        command.args(["--features", &features, "--test", PLAIN_TEST]);
        for name in OPTIMIZED {
            command.arg(format!("--config=profile.dev.package.{name}.opt-level=1"));
        }
        command.env("CARGO_TARGET_DIR", folder.join("build"));
        for (name, value) in [
            ("CARGO_INCREMENTAL", "0"),
            ("CARGO_PROFILE_DEV_DEBUG", "0"),
            ("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false"),
            ("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "true"),
            ("RUSTFLAGS", "-Awarnings"),
        ] {
            command.env(name, value);
        }
        let built = run_quietly(&mut command)?;
        ensure!(built.status.success(), "the libraries cannot be built:\n{}", built.tail(20));
        let artifacts: Vec<Artifact> =
            built.output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let metadata = metadata(root, &features)?;
        let libraries = folder.join("libraries");
        let (imports, imports_of_tests) = gather(&metadata, &artifacts, &libraries)?;
        let (tests, toolchain) = (folder.join("tests"), toolchain(root)?);
        copy_tests(&root.join("tests"), &tests, days)?;
        Ok(Self { libraries, imports, imports_of_tests, tests, toolchain })
    }
}

/// Copies the days' tests to `to`, and writes one program with a module for each day. Several days
/// count allocations, so the program has one allocator for all.
fn copy_tests(from: &Path, to: &Path, days: &[&Day]) -> Result<()> {
    let _ = fs::remove_dir_all(to);
    let cannot = || format!("{} cannot be copied", from.display());
    let mut all = "#[global_allocator]\n\
                   static ALLOCATOR: tiny_llm_harness::allocations::CountingAllocator =\n    \
                   tiny_llm_harness::allocations::CountingAllocator;\n"
        .to_owned();
    let folders = days.iter().map(|day| day.module()).chain(["parts", "fresh"].map(str::to_owned));
    for folder in folders.filter(|folder| from.join(folder).is_dir()) {
        copy_rust(&from.join(&folder), &to.join(&folder)).with_context(cannot)?;
    }
    for module in days.iter().map(|day| day.module()) {
        let file = module.clone() + ".rs";
        let text = fs::read_to_string(from.join(&file)).with_context(cannot)?;
        fs::write(to.join(&file), text.replace("#[global_allocator]\n", "\n"))
            .with_context(cannot)?;
        let feature = module.replace('_', "-");
        all += &format!("#[cfg(feature = {feature:?})]\n#[path = {file:?}]\nmod {module};\n");
    }
    fs::write(to.join("all.rs"), all).with_context(cannot)
}

/// Copies the Rust files of a folder and its subfolders.
fn copy_rust(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_rust(&path, &target)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

fn metadata(root: &Path, features: &str) -> Result<Metadata> {
    let mut command = process::cargo(root);
    command.args(["metadata", "--locked", "--quiet", "--format-version=1", "--features", features]);
    let listed = run_quietly(&mut command)?;
    ensure!(listed.status.success(), "`cargo metadata` failed:\n{}", listed.tail(20));
    serde_json::from_str(&listed.output).context("`cargo metadata` did not print JSON")
}

/// Names of crates, each with the path of its compiled file.
type Imports = Vec<(String, PathBuf)>;

/// Copies the libraries to `folder`. Returns the imports of the learner's crate, and the additional
/// imports of its tests.
fn gather(
    metadata: &Metadata,
    artifacts: &[Artifact],
    folder: &Path,
) -> Result<(Imports, Imports)> {
    let package = |id: &str| metadata.packages.iter().find(|package| package.id == id);
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be created", folder.display()))?;
    let mut copies: BTreeMap<&str, PathBuf> = BTreeMap::new();
    for artifact in artifacts {
        let name = package(&artifact.package_id).map(|package| package.name.as_str());
        // An unknown package is not one of the libraries.
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

/// Returns the folder of the compiler that cargo uses here.
fn toolchain(root: &Path) -> Result<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.current_dir(root).args(["--print", "sysroot"]);
    let printed = run_quietly(&mut command)?;
    ensure!(printed.status.success(), "`rustc --print sysroot` failed:\n{}", printed.tail(5));
    Ok(PathBuf::from(printed.output.trim()))
}

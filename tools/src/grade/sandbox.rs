//! The clean copy in which submissions are judged, one after the other.
//!
//! ```text
//! target/grade/sandbox/tree    the instructor's repository with the submission's src/week*/ laid over fresh stubs
//! target/grade/sandbox/base    the build folder with the libraries, made before any submission is looked at
//! target/grade/sandbox/build   a copy of it, in which a submission is built
//! target/grade/sandbox/home    an empty folder: its programs' home and place for temporary files
//! ```
//!
//! The repository is read into memory once, before any strange code has run, and every submission
//! finds it restored from there. Solutions are not in the copy: `reference/src/week*/` holds stubs
//! there, and `tests/wrong`, `tests/alternate` and the book are left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs::{self, File, FileTimes},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    mirror::{self, Mirror},
    submission::Submission,
};
use crate::{
    curriculum::{Curriculum, PATH},
    files::{list, write_if_changed},
    process,
    stubs::generated,
};

/// What a submission's build and tests need none of, or must not find.
const LEFT_OUT: [&str; 8] = [
    "reference/src/week",
    "src/week",
    "tests/wrong",
    "tests/alternate",
    "course/hints",
    "book",
    ".github",
    ".ci",
];

/// Variables that cargo and the linker need; nothing else of the environment reaches them.
const FOR_CARGO: [&str; 23] = [
    "PATH",
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "DEVELOPER_DIR",
    "SDKROOT",
    // Windows
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "ProgramW6432",
    "CommonProgramFiles",
    "VSINSTALLDIR",
    "LIB",
    "INCLUDE",
    "PROCESSOR_ARCHITECTURE",
];

/// Variables that a test program needs.
const FOR_TESTS: [&str; 2] = ["PATH", "SystemRoot"];

/// The clean copy, held by one run at a time.
pub(super) struct Sandbox {
    /// `target/grade/sandbox`.
    folder: PathBuf,
    /// The instructor's files, as paths from the repository.
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// `src/week1/attention.rs` → the stub.
    stubs: BTreeMap<String, String>,
    /// When the newest of what the stubs are made from was changed.
    stubs_made: SystemTime,
    /// The copy of the built libraries, once there is one.
    build: Option<Mirror>,
    _lock: File,
}

impl Sandbox {
    /// Reads the repository and takes the sandbox; it is still to be [built](super::build::base).
    ///
    /// # Errors
    /// If a file cannot be read, or another run holds the sandbox.
    pub(super) fn open(root: &Path, curriculum: &Curriculum) -> Result<Self> {
        let folder = root.join("target/grade/sandbox");
        let mut paths = BTreeSet::new();
        list(root, Path::new(""), &mut paths)?;
        let kept = |path: &&PathBuf| {
            let path = path.to_string_lossy().replace('\\', "/");
            !LEFT_OUT.iter().any(|prefix| path.starts_with(prefix))
        };
        let mut files = BTreeMap::new();
        for path in paths.iter().filter(kept) {
            let bytes = fs::read(root.join(path))
                .with_context(|| format!("{} cannot be read", path.display()))?;
            files.insert(path.clone(), bytes);
        }
        let mut stubs = BTreeMap::new();
        for file in generated(root, curriculum)? {
            files.insert(Path::new("reference").join(&file.path), file.stub.clone().into_bytes());
            stubs.insert(file.path, file.stub);
        }
        let sources = stubs
            .keys()
            .map(|path| root.join("reference").join(path))
            .chain([root.join(PATH), std::env::current_exe()?]);
        let stubs_made = sources
            .filter_map(|path| fs::metadata(path).ok()?.modified().ok())
            .max()
            .unwrap_or_else(SystemTime::now);
        fs::create_dir_all(&folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        let lock = lock(&folder)?;
        Ok(Self { folder, files, stubs, stubs_made, build: None, _lock: lock })
    }

    /// `src/week1/attention.rs` → the stub.
    pub(super) fn stubs(&self) -> &BTreeMap<String, String> {
        &self.stubs
    }

    /// Where cargo runs.
    pub(super) fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// The build folder that a submission gets a copy of.
    pub(super) fn base(&self) -> PathBuf {
        self.folder.join("base")
    }

    /// A submission's build folder.
    pub(super) fn build(&self) -> PathBuf {
        self.folder.join("build")
    }

    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Puts a submission in, or, without one, nothing but stubs.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn lay_out(&self, submission: Option<&Submission>) -> Result<()> {
        // A program may have left folders where files belong; then everything is written anew.
        self.try_lay_out(submission).or_else(|_| {
            let _ = fs::remove_dir_all(self.tree());
            self.try_lay_out(submission)
        })
    }

    fn try_lay_out(&self, submission: Option<&Submission>) -> Result<()> {
        let tree = self.tree();
        for folder in [&tree, &self.home()] {
            mirror::remove_link(folder)?;
            fs::create_dir_all(folder)
                .with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        fs::remove_dir_all(self.home())
            .and_then(|()| fs::create_dir(self.home()))
            .context("the sandbox's home cannot be emptied")?;
        for path in mirror::files(&tree, true)?.keys() {
            // The week's files are written anew in any case, so that cargo sees every submission as
            // changed.
            if !self.files.contains_key(path)
                || path.starts_with("src") && path.components().count() > 2
            {
                fs::remove_file(tree.join(path))
                    .with_context(|| format!("{} cannot be removed", tree.join(path).display()))?;
            }
        }
        for (path, bytes) in &self.files {
            write_if_changed(&tree.join(path), bytes)?;
        }
        let handed_in = submission.map(|submission| &submission.files);
        for (path, stub) in &self.stubs {
            write_if_changed(&tree.join(path), stub.as_bytes())?;
            if submission.is_none() {
                // Cargo goes by the times: an unchanged stub is not compiled again in every run.
                let file = File::options().write(true).open(tree.join(path))?;
                file.set_times(FileTimes::new().set_modified(self.stubs_made))?;
            }
        }
        for (path, text) in handed_in.into_iter().flatten() {
            write_if_changed(&tree.join(path), text.as_bytes())?;
        }
        Ok(())
    }

    /// Makes the submission's build folder a fresh copy of the libraries' one, and returns how many
    /// files that took. `Ok(None)`: the libraries' folder is not as it was built.
    pub(super) fn copy_base(&mut self) -> Result<Option<usize>> {
        if self.build.is_none() {
            // What an earlier run left there is of unknown origin.
            let _ = fs::remove_dir_all(self.build());
            self.build = Some(Mirror::new(self.base(), self.build())?);
        }
        let Some(build) = &mut self.build else { bail!("the sandbox has no build folder") };
        if !build.source_is_whole()? {
            self.build = None;
            return Ok(None);
        }
        build.restore().map(Some)
    }

    /// The environment for cargo with the build folder `target`.
    pub(super) fn for_cargo(&self, target: &Path) -> Vec<(String, OsString)> {
        let mut variables = chosen(&FOR_CARGO);
        variables.extend(self.temporary());
        for (name, value) in [
            ("CARGO_TERM_COLOR", "never"),
            ("CARGO_INCREMENTAL", "0"),
            ("CARGO_PROFILE_DEV_DEBUG", "0"),
            ("CARGO_NET_OFFLINE", "true"),
            ("RUSTFLAGS", "-Awarnings"),
        ] {
            variables.push((name.to_owned(), value.into()));
        }
        variables.push(("CARGO_TARGET_DIR".to_owned(), target.into()));
        variables
    }

    /// The environment of a submission's tests.
    pub(super) fn for_tests(&self) -> Vec<(String, OsString)> {
        let mut variables = chosen(&FOR_TESTS);
        variables.extend(self.temporary());
        variables.push(("HOME".to_owned(), self.home().into()));
        variables.push(("RUST_BACKTRACE".to_owned(), "0".into()));
        variables
    }

    fn temporary(&self) -> impl Iterator<Item = (String, OsString)> {
        let home = self.home();
        ["TMPDIR", "TMP", "TEMP"]
            .into_iter()
            .map(move |name| (name.to_owned(), home.clone().into()))
    }
}

/// `cargo ARGUMENTS` in the sandbox with the instructor's own environment: for what touches the
/// network and no strange code.
///
/// # Errors
/// If it fails.
pub(super) fn fetch(sandbox: &Sandbox) -> Result<()> {
    let mut command = process::cargo(&sandbox.tree());
    command.args(["fetch", "--locked", "--quiet"]);
    let finished = process::run_quietly(&mut command)?;
    ensure!(finished.status.success(), "the libraries cannot be fetched:\n{}", finished.tail(20));
    Ok(())
}

/// Those of this process's variables.
fn chosen(names: &[&str]) -> Vec<(String, OsString)> {
    names.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?))).collect()
}

/// Holds the sandbox until the file is closed.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
    let taken =
        || format!("{}: another `cargo course grade` runs in this repository", path.display());
    let file = options.open(&path).with_context(taken)?;
    #[cfg(unix)]
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .with_context(taken)?;
    Ok(file)
}

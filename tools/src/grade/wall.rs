//! The sandbox of a submission.
//!
//! With bubblewrap, each program of a submission runs in a file system that contains only the files
//! that it needs. They are read-only, except for a small folder in memory and the compiler's
//! output. There is no network, and a separate process namespace ends with the program. Without
//! bubblewrap there is no sandbox: the programs run as your user, which an instructor must allow
//! (`--trust`).

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};

use super::{
    filter::filter,
    limited::{self, Ended, Limits},
};

/// Maximum size of temporary files in memory.
const TEMPORARY: u64 = 256 << 20; // bytes

/// Parts of the system that a compiler and a linker need, if they exist.
const FOR_COMPILER: [&str; 6] =
    ["/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/nix/store"];
/// Parts of the system that a test program or the reader needs: shared libraries and Vulkan
/// drivers.
const FOR_TESTS: [&str; 7] =
    ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/nix/store", "/usr/share/vulkan", "/etc/vulkan"];

/// The kinds of program that a submission needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The compiler. It reads untrusted text, but runs no untrusted code.
    Compiler,
    /// The reader of submissions. It runs no untrusted code.
    Reader,
    /// Tests, which run untrusted code.
    Tests,
}

/// A program to run in the sandbox.
pub(super) struct Shut<'a> {
    pub(super) kind: Kind,
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<OsString>,
    /// Working folder.
    pub(super) folder: &'a Path,
    /// The whole environment.
    pub(super) variables: Vec<(String, OsString)>,
    /// Additional visible files and folders, and their paths in the sandbox.
    pub(super) seen: Vec<(PathBuf, PathBuf)>,
    /// The only folder on disk that the program may write to, and its path in the sandbox.
    pub(super) written: Option<(&'a Path, &'a Path)>,
}

/// The kind of sandbox on this machine.
#[derive(Debug)]
pub(super) enum Wall {
    /// Bubblewrap: its program, and the file with the filter of system calls, if there is one.
    Bubblewrap { program: PathBuf, filter: Option<PathBuf> },
    /// No sandbox.
    None,
}

impl Wall {
    /// Returns bubblewrap if it works here, or why it does not. Writes the filter of system calls
    /// to a file in `folder`.
    pub(super) fn find(folder: &Path) -> Result<Self, String> {
        if !cfg!(target_os = "linux") {
            return Err("bubblewrap runs only on Linux".to_owned());
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path)
            .map(|folder| folder.join("bwrap"))
            .find(|program| program.is_file())
            .ok_or("bubblewrap is not installed: there is no program `bwrap`")?;
        let filter = Self::write_filter(folder).map_err(|error| format!("{error:#}"))?;
        let wall = Self::Bubblewrap { program, filter };
        // Try a program that certainly exists, in the sandbox of the compiler.
        let probe = Shut {
            kind: Kind::Compiler,
            program: Path::new("/bin/sh"),
            arguments: ["-c", "echo inside"].map(Into::into).to_vec(),
            folder: Path::new("/tmp"),
            variables: Vec::new(),
            seen: Vec::new(),
            written: None,
        };
        let time = Duration::from_secs(20);
        let limits = Limits { time, silence: time, processor: 20, memory: 1024, output: 1 << 12 };
        let ended = wall.run(probe, &limits).map_err(|error| format!("{error:#}"))?;
        match ended.stdout.as_str() {
            "inside\n" => Ok(wall),
            _ => Err(format!("bubblewrap does not work here: {}", ended.stderr.trim())),
        }
    }

    fn write_filter(folder: &Path) -> Result<Option<PathBuf>> {
        let Some(bytes) = filter() else { return Ok(None) };
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be created", folder.display()))?;
        let path = folder.join("filter.bpf");
        fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Some(path))
    }

    /// Returns whether there is a sandbox.
    pub(super) fn stands(&self) -> bool {
        matches!(self, Self::Bubblewrap { .. })
    }

    /// Runs a program to its end, or to its limits.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) fn run(&self, shut: Shut, limits: &Limits) -> Result<Ended> {
        match self {
            Self::Bubblewrap { program, filter } => {
                let filter = filter.as_deref().filter(|_| shut.kind == Kind::Tests);
                let arguments = bubblewrap(&shut, filter.is_some());
                limited::run(program.as_os_str(), &arguments, Path::new("/"), &[], filter, limits)
            }
            Self::None => limited::run(
                shut.program.as_os_str(),
                &shut.arguments,
                shut.folder,
                &shut.variables,
                None,
                limits,
            ),
        }
    }
}

/// Returns bubblewrap's arguments, including the program and its arguments.
fn bubblewrap(shut: &Shut, filtered: bool) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |words: &[&OsStr]| all.extend(words.iter().map(|word| (*word).to_owned()));
    for word in ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"] {
        add(&[word.as_ref()]);
    }
    add(&["--new-session".as_ref(), "--cap-drop".as_ref(), "ALL".as_ref()]);
    add(&["--clearenv".as_ref()]);
    let system: &[&str] = if shut.kind == Kind::Compiler { &FOR_COMPILER } else { &FOR_TESTS };
    for path in system.iter().map(Path::new) {
        match fs::read_link(path) {
            // `/lib` may be a link to `/usr/lib`.
            Ok(target) => add(&["--symlink".as_ref(), target.as_ref(), path.as_ref()]),
            Err(_) => add(&["--ro-bind-try".as_ref(), path.as_ref(), path.as_ref()]),
        }
    }
    add(&["--proc", "/proc", "--dev", "/dev", "--size"].map(AsRef::as_ref));
    add(&[TEMPORARY.to_string().as_ref(), "--tmpfs".as_ref(), "/tmp".as_ref()]);
    for (from, to) in &shut.seen {
        add(&["--ro-bind".as_ref(), from.as_ref(), to.as_ref()]);
    }
    if let Some((from, to)) = shut.written {
        add(&["--bind".as_ref(), from.as_ref(), to.as_ref()]);
    }
    for path in ["/dev", "/"] {
        add(&["--remount-ro".as_ref(), path.as_ref()]);
    }
    for (name, value) in &shut.variables {
        add(&["--setenv".as_ref(), name.as_ref(), value]);
    }
    add(&["--chdir".as_ref(), shut.folder.as_ref()]);
    if filtered {
        add(&["--seccomp".as_ref(), limited::FILTER.to_string().as_ref()]);
    }
    add(&["--".as_ref(), shut.program.as_ref()]);
    shut.arguments.iter().for_each(|argument| add(&[argument]));
    all
}

//! Python, and the environment of pinned packages in `.venv`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use super::part::{Part, first_line, version};

/// The oldest Python on which the pinned packages run.
pub(super) const OLDEST: (u32, u32) = (3, 10);

/// Checks the Python interpreter.
pub(super) fn interpreter() -> Part {
    let found =
        python().map(|python| format!("{} ({})", python.version_text(), python.program.join(" ")));
    Part::optional(
        "Python",
        found,
        "only `cargo course verify` and the checks that run PyTorch use it",
    )
}

/// Checks the environment in `.venv`.
pub(super) fn environment(root: &Path) -> Part {
    let found = Venv::of(root).map_err(|error| format!("{error:#}")).and_then(|venv| {
        if !venv.python.is_file() {
            Err("not created yet (`cargo course verify` creates it and downloads PyTorch)"
                .to_owned())
        } else if venv.is_current() {
            Ok(format!("has the {} packages that pyproject.toml pins", venv.packages.len()))
        } else {
            Err("its packages differ from those that pyproject.toml pins (`cargo course verify` \
                 rebuilds it)"
                .to_owned())
        }
    });
    Part::optional(".venv", found, "only the checks that run PyTorch use it")
}

/// The Python environment that `cargo course verify` creates in `.venv`.
#[derive(Debug)]
pub struct Venv {
    /// The environment's folder.
    pub folder: PathBuf,
    /// The environment's Python interpreter.
    pub python: PathBuf,
    /// File that lists the packages for which the environment was created, one per line.
    pub stamp: PathBuf,
    /// The pinned packages, from `project.optional-dependencies.dev`.
    pub packages: Vec<String>,
}

/// Returns the packages that `pyproject.toml` pins in the list
/// `project.optional-dependencies.NAME`.
///
/// # Errors
/// If the file cannot be read or has no such list.
pub fn extra(root: &Path, name: &str) -> Result<Vec<String>> {
    let manifest: toml::Table = fs::read_to_string(root.join("pyproject.toml"))
        .context("pyproject.toml cannot be read")?
        .parse()?;
    let pinned = manifest
        .get("project")
        .and_then(|project| project.get("optional-dependencies")?.get(name)?.as_array())
        .with_context(|| format!("pyproject.toml has no project.optional-dependencies.{name}"))?;
    Ok(pinned.iter().filter_map(|package| package.as_str().map(str::to_owned)).collect())
}

impl Venv {
    /// Returns the environment of this repository, which may not have been created yet.
    ///
    /// # Errors
    /// If `pyproject.toml` cannot be read or has no list `dev`.
    pub fn of(root: &Path) -> Result<Self> {
        let packages = extra(root, "dev")?;
        let folder = root.join(".venv");
        Ok(Self {
            python: folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }),
            stamp: folder.join("packages.txt"),
            folder,
            packages,
        })
    }

    /// Returns whether the environment exists and was created for the packages that are now pinned.
    pub fn is_current(&self) -> bool {
        self.python.is_file()
            && fs::read_to_string(&self.stamp).is_ok_and(|made| made == self.packages.join("\n"))
    }
}

/// A Python interpreter that can create the environment.
#[derive(Debug)]
pub struct Python {
    /// How to start the interpreter: `["python3"]`, `["py", "-3"]`.
    pub program: Vec<&'static str>,
    version: (u32, u32),
}

impl Python {
    fn version_text(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// Returns a command that runs the interpreter.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program[0]);
        command.args(&self.program[1..]);
        command
    }
}

/// Returns the first Python that is recent enough, or a message about what is missing.
pub fn python() -> Result<Python, String> {
    let mut too_old = None;
    for program in [vec!["python3"], vec!["python"], vec!["py", "-3"]] {
        let mut python = Python { program, version: (0, 0) };
        // On Windows, `python3` may only open the app store, so the program must report a version.
        let Ok(text) = first_line(python.command().arg("--version")) else { continue };
        python.version = version(text.trim_start_matches("Python "));
        if text.starts_with("Python ") && python.version >= OLDEST {
            return Ok(python);
        }
        too_old.get_or_insert(text);
    }
    let advice = format!(
        "Python {}.{} or newer: https://www.python.org, or your system's package manager",
        OLDEST.0, OLDEST.1
    );
    Err(match too_old {
        Some(found) => format!("{found} is too old; install {advice}"),
        None => format!("missing; install {advice}"),
    })
}

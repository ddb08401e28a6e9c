//! Runs the smallest verification as on a machine that has only what the README requires: Rust, a
//! linker, Python and git. The verification must pass, and report what it could not verify.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::context::{INSIDE, Outcome, Verification};
use crate::process::{forget_cargo, run_aloud, run_quietly};

/// Programs of a machine with Rust, Python and git, except Rust's and Python's own.
const PROGRAMS: [&str; 34] = [
    "cc", "gcc", "ld", "as", "ar", "git", "sh", "bash", "env", "df", "ls", "cat", "cp", "mv", "rm",
    "mkdir", "chmod", "touch", "uname", "which", "sed", "grep", "dirname", "basename", "sleep",
    "kill", "ps", "true", "test", "expr", "tr", "head", "nice", "readelf",
];

/// Rust's programs, without the components that a minimal installation lacks.
const RUST: [&str; 3] = ["cargo", "rustc", "rustdoc"];

/// Folders of graphics drivers and optional programs on Linux, which are hidden.
const HIDDEN: [&str; 4] =
    ["/usr/share/vulkan", "/etc/vulkan", "/usr/lib/chromium", "/usr/aarch64-linux-gnu"];

/// Runs a second verification, of the smallest size, with a bare machine's programs. The steps that
/// pass in it are not repeated in this one.
pub(super) fn bare(v: &Verification) -> Result<Outcome> {
    if cfg!(windows) {
        return Ok(Outcome::NotVerified(
            "links to programs are not supported on Windows".to_owned(),
        ));
    }
    let folder = v.root.join("target/verify/bare-path");
    links(&folder)?;
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let mut words = vec![program.display().to_string()];
    words.extend(["verify", "--json", "--resume"].map(str::to_owned));
    words.push(format!("--seed={}", v.seed()));
    if v.options.no_python {
        words.push("--no-python".to_owned());
    }
    if v.options.whole {
        words.push("--whole".to_owned());
    }
    let wall = wall();
    words.splice(0..0, wall.iter().cloned());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(&v.root);
    forget_cargo(&mut command);
    command.env("PATH", &folder).env(INSIDE, "1");
    command.env("CARGO", folder.join("cargo")).env("RUSTC", folder.join("rustc"));
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        command.env(variable, "/nonexistent");
    }
    let finished = run_aloud(&mut command)?;
    let report = finished.output.lines().rev().find(|line| line.starts_with('{'));
    let report: Value = serde_json::from_str(report.context("the inner run printed no report")?)?;
    let steps = report["steps"].as_array().context("the report has no steps")?;
    let names = |outcome: &str| -> Vec<&str> {
        let of_outcome = steps.iter().filter(|step| step["outcome"] == outcome);
        of_outcome.filter_map(|step| step["id"].as_str()).collect()
    };
    let (failed, lacking) = (names("failed"), names("not_verified"));
    ensure!(
        failed.is_empty() && finished.status.success(),
        "on a bare machine these steps fail: {}",
        failed.join(", ")
    );
    let passed = names("passed").len();
    let place = if wall.is_empty() { "with its own PATH" } else { "in bubblewrap" };
    Ok(Outcome::Passed(format!(
        "{passed} steps passed {place}; not verified: {}",
        lacking.join(", ")
    )))
}

/// Fills a folder with links to the programs of a bare machine.
fn links(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let sysroot = run_quietly(Command::new("rustc").args(["--print", "sysroot"]))?;
    let rust = Path::new(sysroot.output.trim()).join("bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    for name in PROGRAMS {
        let found = std::env::split_paths(&path).map(|at| at.join(name)).find(|at| at.is_file());
        if let Some(program) = found {
            link(&program, &folder.join(name))?;
        }
    }
    python(folder)?;
    RUST.iter().try_for_each(|name| link(&rust.join(name), &folder.join(name)))
}

/// Writes a script that starts Python by its real path. The program on the PATH may be a script of
/// a version manager, and an environment that was created through a link does not find its library.
fn python(folder: &Path) -> Result<()> {
    let mut find = Command::new("python3");
    find.args(["-c", "import sys; print(getattr(sys, '_base_executable', sys.executable))"]);
    let Ok(found) = run_quietly(&mut find) else { return Ok(()) };
    if !found.status.success() {
        return Ok(());
    }
    let script = folder.join("python3");
    fs::write(&script, format!("#!/bin/sh\nexec '{}' \"$@\"\n", found.output.trim()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn link(program: &Path, link: &Path) -> Result<()> {
    #[cfg(unix)]
    std::os::unix::fs::symlink(program, link)
        .with_context(|| format!("{} cannot be created", link.display()))?;
    #[cfg(not(unix))]
    let _ = (program, link);
    Ok(())
}

/// Returns the words before a command that hide the folders [`HIDDEN`] from it. There are none if
/// bubblewrap does not work here.
fn wall() -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("bwrap"));
    // Use the full path, because the command's own PATH does not include it.
    let Some(program) = programs.find(|program| program.is_file()) else { return Vec::new() };
    let mut words = vec![program.display().to_string()];
    words.extend(["--dev-bind", "/", "/"].map(str::to_owned));
    for hidden in HIDDEN.map(PathBuf::from).iter().filter(|folder| folder.is_dir()) {
        words.extend(["--tmpfs".to_owned(), hidden.display().to_string()]);
    }
    let tried = run_quietly(Command::new(&words[0]).args(&words[1..]).arg("true"));
    if tried.is_ok_and(|finished| finished.status.success()) {
        // The program ends together with this process.
        words.push("--die-with-parent".to_owned());
        words
    } else {
        Vec::new()
    }
}

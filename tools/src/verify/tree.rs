//! Creates the pristine copy in which everything runs, and checks that the repository has not
//! changed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};

use super::context::{Outcome, Verification};
pub(super) use crate::files::write_if_changed;
use crate::{pristine::copy_tree, process::run_quietly};

/// Copies the repository to `target/verify/tree`, with every stub as generated.
pub(super) fn copy(v: &Verification) -> Result<Outcome> {
    let files = copy_tree(&v.root, &v.curriculum, &v.tree, BTreeMap::new())?;
    // Cargo builds into another folder, but the book's commands write to this one.
    fs::create_dir_all(v.tree.join("target"))?;
    let note =
        format!("{files} files in {}", v.tree.strip_prefix(&v.root).unwrap_or(&v.tree).display());
    println!("{note}");
    Ok(Outcome::Passed(note))
}

/// Returns `git status` of the repository, or `None` outside git.
fn git_status(root: &Path) -> Option<String> {
    let status =
        run_quietly(Command::new("git").args(["status", "--porcelain"]).current_dir(root)).ok()?;
    status.status.success().then_some(status.text)
}

fn remembered(root: &Path) -> PathBuf {
    root.join("target/verify/status.txt")
}

/// Stores the output of `git status` before the first step.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn remember(root: &Path) -> Result<()> {
    match git_status(root) {
        Some(status) => Ok(fs::write(remembered(root), status)?),
        None => {
            let _ = fs::remove_file(remembered(root));
            Ok(())
        }
    }
}

/// Compares `git status` with the output before the first step.
pub(super) fn unmodified(v: &Verification) -> Result<Outcome> {
    let (Ok(before), Some(after)) = (fs::read_to_string(remembered(&v.root)), git_status(&v.root))
    else {
        let reason = "this folder is not a git repository, or git is missing";
        return Ok(Outcome::NotVerified(reason.to_owned()));
    };
    let is_in = |text: &str, line: &str| text.lines().any(|other| other == line);
    let appeared = after.lines().filter(|line| !is_in(&before, line));
    let vanished = before.lines().filter(|line| !is_in(&after, line));
    let changed: Vec<&str> = appeared.chain(vanished).collect();
    ensure!(changed.is_empty(), "`git status` has changed: {}", changed.join(", "));
    Ok(Outcome::Passed(String::new()))
}

//! The pristine copy that everything runs in, and the check that the repository stayed as it was.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use anyhow::Result;

use super::context::{Outcome, Verification};
pub(super) use crate::files::write_if_changed;
use crate::{pristine::copy_tree, process::run_quietly};

/// Copies the repository to `target/verify/tree`, with every stub as generated.
pub(super) fn copy(v: &mut Verification) -> Result<Outcome> {
    let files = copy_tree(&v.root, &v.curriculum, &v.tree, BTreeMap::new())?;
    // Cargo builds elsewhere, but the book's commands write into this folder.
    fs::create_dir_all(v.tree.join("target"))?;
    let note =
        format!("{files} files in {}", v.tree.strip_prefix(&v.root).unwrap_or(&v.tree).display());
    println!("{note}");
    Ok(Outcome::Passed(note))
}

/// `git status` of the repository; `None` outside git.
pub(super) fn git_status(root: &Path) -> Option<String> {
    let status =
        run_quietly(Command::new("git").args(["status", "--porcelain"]).current_dir(root)).ok()?;
    status.status.success().then_some(status.text)
}

/// Compares `git status` with what it was before the first step.
pub(super) fn unmodified(v: &mut Verification) -> Result<Outcome> {
    let (Some(before), Some(after)) = (&v.status_before, git_status(&v.root)) else {
        return Ok(Outcome::NotVerified(
            "this folder is not a git repository, or git is missing".to_owned(),
        ));
    };
    let changed: Vec<&str> = after
        .lines()
        .filter(|line| !before.lines().any(|old| old == *line))
        .chain(before.lines().filter(|line| !after.lines().any(|new| new == *line)))
        .collect();
    if changed.is_empty() {
        Ok(Outcome::Passed(String::new()))
    } else {
        Ok(Outcome::Failed(format!(
            "`git status` is not what it was before: {}",
            changed.join(", ")
        )))
    }
}

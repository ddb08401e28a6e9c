//! The pristine copy that everything runs in, and the check that the repository stayed as it was.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use super::context::{Outcome, Verification};
pub(super) use crate::files::write_if_changed;
use crate::{curriculum::Curriculum, files::list, process::run_quietly, stubs::generated};

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

/// Makes `tree` a copy of the repository, with every stub as generated and `instead` in place of
/// the files it names. Says how many files it has.
pub(crate) fn copy_tree(
    root: &Path,
    curriculum: &Curriculum,
    tree: &Path,
    mut instead: BTreeMap<PathBuf, Vec<u8>>,
) -> Result<usize> {
    for file in generated(root, curriculum)? {
        instead.entry(PathBuf::from(file.path)).or_insert(file.stub.into_bytes());
    }
    let mut files = BTreeSet::new();
    list(root, Path::new(""), &mut files)?;
    files.extend(instead.keys().cloned());
    for file in &files {
        match instead.get(file) {
            Some(content) => write_if_changed(&tree.join(file), content)?,
            None => write_if_changed(&tree.join(file), &fs::read(root.join(file))?)?,
        }
    }
    let mut there = BTreeSet::new();
    list(tree, Path::new(""), &mut there)?;
    for stale in there.difference(&files) {
        fs::remove_file(tree.join(stale))?;
    }
    Ok(files.len())
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

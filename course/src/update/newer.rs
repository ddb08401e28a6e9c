//! Reads and checks the newer course. None of its code is run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Component, Path},
};

use anyhow::{Context, Result, ensure};

use crate::{
    curriculum::{self, Curriculum},
    files, git,
    stubs::{is_generated, templates},
    template::Template,
};

/// Contents of files, by path.
type Files = BTreeMap<String, Vec<u8>>;

/// A course that was read from a folder or from git.
#[derive(Debug)]
pub(super) struct Newer {
    /// The course's name in messages.
    pub(super) name: String,
    /// The course's commit. `None` if its files are not exactly those of a commit.
    pub(super) commit: Option<String>,
    /// All files except the stubs.
    pub(super) files: Files,
    /// The path of each stub, such as `src/week1/attention/attention.rs`, and the template that
    /// generates the stub.
    pub(super) templates: Vec<(String, Template)>,
    /// The course's commit and all its ancestors. Empty if the commit is unknown.
    pub(super) history: BTreeSet<String>,
}

impl Newer {
    /// Returns whether the course has a file with this path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.templates.iter().any(|(name, _)| name == path)
    }
}

/// Reads the newer course. `from` is a folder, a git ref, or `None` for the remote's default
/// branch.
///
/// # Errors
/// If there is no such course, or its list of tasks or a file of its reference is invalid.
pub(super) fn read(root: &Path, from: Option<&str>) -> Result<Newer> {
    let (name, commit, files, history) = match from {
        Some(folder) if Path::new(folder).is_dir() => {
            let folder =
                fs::canonicalize(folder).with_context(|| format!("{folder} cannot be found"))?;
            ensure!(
                fs::canonicalize(root)? != folder,
                "{} is the folder of this course; give the folder of a newer course",
                folder.display()
            );
            let commit = commit_of(&folder);
            let history = commit
                .as_ref()
                .map_or_else(|| Ok(Vec::new()), |commit| git::history(&folder, commit))?;
            (folder.display().to_string(), commit, in_folder(&folder)?, history)
        }
        _ => {
            let (name, commit) = match from {
                Some(name) => {
                    let commit = git::line(
                        root,
                        &[
                            "rev-parse",
                            "--verify",
                            "--quiet",
                            "--end-of-options",
                            &format!("{name}^{{commit}}"),
                        ],
                    );
                    (
                        name.to_owned(),
                        commit
                            .ok()
                            .with_context(|| format!("{name} is neither a folder nor a git ref"))?,
                    )
                }
                None => git::fetch(root)?,
            };
            let history = git::history(root, &commit)?;
            (name, Some(commit.clone()), git::files(root, &commit)?, history)
        }
    };
    let (files, templates) = sound(files)
        .with_context(|| format!("the course in {name} is broken; nothing was changed"))?;
    Ok(Newer { name, commit, files, templates, history: history.into_iter().collect() })
}

/// Checks the files of a course. Returns all files except the stubs, and the templates that
/// generate the stubs.
fn sound(mut files: Files) -> Result<(Files, Vec<(String, Template)>)> {
    for path in files.keys() {
        let plain = Path::new(path).components().all(
            |part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git")),
        );
        let made =
            files::MADE.iter().any(|made| path == made || path.starts_with(&format!("{made}/")));
        ensure!(
            plain && !made && !path.contains('\\'),
            "found the path {path}, which a course must not contain"
        );
    }
    let text = |path: &str, content: &[u8]| {
        String::from_utf8(content.to_owned()).ok().with_context(|| format!("{path} is not UTF-8"))
    };
    let list = files
        .get(curriculum::PATH)
        .with_context(|| format!("{} does not exist", curriculum::PATH))?;
    let (curriculum, _) = Curriculum::parse_newer(&text(curriculum::PATH, list)?)?;
    let mut reference = Vec::new();
    for (path, content) in &files {
        if let Some(stub) = path.strip_prefix("reference/").filter(|path| is_generated(path)) {
            reference.push((stub.to_owned(), text(path, content)?));
        }
    }
    let templates = templates(reference, &curriculum)?;
    files.retain(|path, _| !is_generated(path));
    Ok((files, templates))
}

/// Returns the `HEAD` commit of the repository `folder`, if its tracked files are unchanged.
fn commit_of(folder: &Path) -> Option<String> {
    let status = git::line(folder, &["status", "--porcelain", "--untracked-files=no"]).ok()?;
    let top = git::line(folder, &["rev-parse", "--show-toplevel"]).ok()?;
    let own = fs::canonicalize(top).is_ok_and(|top| top == folder);
    if own && status.is_empty() {
        git::line(folder, &["rev-parse", "--verify", "HEAD"]).ok()
    } else {
        None
    }
}

/// Returns the files that git tracks in `folder`. If `folder` is not a repository, returns all its
/// files except generated ones.
fn in_folder(folder: &Path) -> Result<Files> {
    let mut paths = BTreeSet::new();
    if folder.join(".git").exists() {
        let listed = git::git(folder, &["ls-files", "-z"])?;
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            let path = str::from_utf8(path).ok().context("a file's name is not UTF-8")?;
            if folder.join(path).symlink_metadata().is_ok() {
                paths.insert(path.to_owned());
            }
        }
    } else {
        let mut found = BTreeSet::new();
        files::list(folder, Path::new(""), &mut found)?;
        for path in found {
            paths.insert(files::slashed(&path)?);
        }
    }
    let mut files = BTreeMap::new();
    for path in paths {
        let place = folder.join(&path);
        let plain = fs::symlink_metadata(&place).is_ok_and(|about| about.is_file());
        ensure!(plain, "{} is not a regular file", place.display());
        files.insert(
            path,
            fs::read(&place).with_context(|| format!("{} cannot be read", place.display()))?,
        );
    }
    Ok(files)
}

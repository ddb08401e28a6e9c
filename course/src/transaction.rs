//! Writes of several files that happen wholly or not at all, whenever the program is killed.
//!
//! 1. All new contents, copies of what they replace, and a journal are written to
//!    `.course/transaction/staging-<process>/`.
//! 2. Renaming that folder to `committed` is the decision: before it nothing has changed, after it
//!    everything will.
//! 3. The copies move to `.course/recovery/<time>/`; then file after file is renamed into its
//!    place.
//!
//! [`recover`] runs at every start of the runner. It finishes what was committed and discards what
//! was not. A file that has been changed since is neither the old one nor the new one: it stays,
//! and the new content goes to recovery.

use std::{
    collections::BTreeSet,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context, Result, ensure};

use self::journal::{Entry, Journal};
use crate::files::{Recovery, sync_folder, write_atomically, write_synced};

mod journal;
#[cfg(test)]
mod tests;

/// Relative to the repository.
const FOLDER: &str = ".course/transaction";
const COMMITTED: &str = "committed";

/// Files to be written and removed together.
#[derive(Debug)]
pub struct Transaction {
    root: PathBuf,
    journal: Journal,
    /// For each entry, its new content.
    new: Vec<Option<Vec<u8>>>,
    /// Path and content of what goes to recovery.
    kept: Vec<(String, Vec<u8>)>,
}

/// What was done, for the closing lines of a command.
#[derive(Debug, Default)]
pub struct Done {
    /// Where the replaced files are kept, relative to the repository, if any are.
    pub recovery: Option<PathBuf>,
    /// Files that were changed meanwhile, and so were left alone; a sentence each.
    pub left: Vec<String>,
}

impl Done {
    /// Prints the closing lines, if there is something to say.
    pub fn print(&self) {
        if let Some(folder) = &self.recovery {
            println!("What stood there before is kept in {}.", folder.display());
        }
        for line in &self.left {
            println!("{line}");
        }
    }
}

impl Transaction {
    /// An empty one; `command` names the command to whoever reads about it later.
    pub fn new(root: &Path, command: &str) -> Self {
        let recovery = Recovery::new(root).folder;
        let journal = Journal { command: command.to_owned(), recovery, entries: Vec::new() };
        Self { root: root.to_owned(), journal, new: Vec::new(), kept: Vec::new() }
    }

    /// Plans that `path` holds `new` (`None`: is removed) instead of `old`, which is kept.
    pub fn replace(&mut self, path: &str, old: Option<&[u8]>, new: Option<&[u8]>) {
        if let Some(old) = old {
            self.kept.push((path.to_owned(), old.to_owned()));
        }
        self.replace_unkept(path, old, new);
    }

    /// [`Transaction::replace`] for a file in which nothing of the learner's can be.
    pub fn replace_unkept(&mut self, path: &str, old: Option<&[u8]>, new: Option<&[u8]>) {
        self.journal.entries.push(Entry {
            path: path.to_owned(),
            old: old.map(hash),
            new: new.map(hash),
        });
        self.new.push(new.map(<[u8]>::to_owned));
    }

    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.journal.entries.is_empty()
    }

    /// Does all of it.
    ///
    /// # Errors
    /// If a file is no longer as it was planned with, or something cannot be written: then nothing
    /// has changed. If a file cannot be replaced after the decision, the rest is done at the
    /// runner's next start.
    pub fn commit(self) -> Result<Done> {
        if self.is_empty() {
            return Ok(Done::default());
        }
        let committed = self.decide()?;
        apply(&self.root, &committed)
    }

    /// Steps 1 and 2. Returns the folder of the committed transaction.
    fn decide(&self) -> Result<PathBuf> {
        for entry in &self.journal.entries {
            let now = hash_of(&self.root.join(&entry.path))?;
            ensure!(
                now == entry.old,
                "{} was changed while this command ran; nothing was written, run it again",
                entry.path
            );
        }
        let staging = self.root.join(FOLDER).join(format!("staging-{}", std::process::id()));
        let stage = || -> std::io::Result<PathBuf> {
            let mut folders = BTreeSet::from([staging.clone(), staging.join("new")]);
            fs::create_dir_all(staging.join("new"))?;
            let mut files: Vec<(PathBuf, &[u8])> = Vec::new();
            for (path, content) in &self.kept {
                let path = staging.join("kept").join(path);
                let folder = path.parent().unwrap_or(&staging);
                fs::create_dir_all(folder)?;
                folders.extend(
                    folder.ancestors().take_while(|folder| **folder != staging).map(Path::to_owned),
                );
                files.push((path, content));
            }
            for (n, content) in self.new.iter().enumerate() {
                files.extend(
                    content
                        .as_deref()
                        .map(|content| (staging.join("new").join(n.to_string()), content)),
                );
            }
            write_together(&files)?;
            write_synced(&staging.join("journal.json"), self.journal.text().as_bytes())?;
            for folder in &folders {
                sync_folder(folder)?;
            }
            let committed = self.root.join(FOLDER).join(COMMITTED);
            fs::rename(&staging, &committed)?;
            sync_folder(&self.root.join(FOLDER))?;
            Ok(committed)
        };
        stage()
            .with_context(|| format!("{FOLDER} cannot be written; nothing has changed"))
            .inspect_err(|_| {
                let _ = fs::remove_dir_all(&staging);
            })
    }
}

/// Whether an earlier run left something behind for [`recover`].
pub fn is_pending(root: &Path) -> bool {
    fs::read_dir(root.join(FOLDER)).is_ok_and(|mut entries| entries.next().is_some())
}

/// Writes files down to the disk, many at a time: each alone would wait for the disk, together they
/// wait once.
fn write_together(files: &[(PathBuf, &[u8])]) -> std::io::Result<()> {
    let write = |files: &[(PathBuf, &[u8])]| {
        files.iter().try_for_each(|(path, content)| write_synced(path, content))
    };
    thread::scope(|scope| {
        let share = files.len().div_ceil(16).max(1);
        let writers: Vec<_> =
            files.chunks(share).map(|files| scope.spawn(move || write(files))).collect();
        writers.into_iter().try_for_each(|writer| {
            writer.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread stopped")))
        })
    })
}

/// Finishes or discards what an earlier run left behind. Returns a line for each.
///
/// # Errors
/// If a committed transaction cannot be read or finished.
pub fn recover(root: &Path) -> Result<Vec<String>> {
    let folder = root.join(FOLDER);
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut lines = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("{FOLDER} cannot be listed"))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == COMMITTED {
            let journal = read_journal(&path)?;
            let done = apply(root, &path)?;
            lines.push(format!(
                "`cargo course {}` had been interrupted; it is now complete.",
                journal.command
            ));
            lines.extend(done.left);
        } else if name.starts_with("staging-") {
            discard(&path)?;
            lines.push(
                "A command had been interrupted before it changed anything; what it had prepared \
                 is discarded."
                    .to_owned(),
            );
        } else {
            discard(&path)?;
        }
    }
    tidy(root);
    Ok(lines)
}

fn read_journal(committed: &Path) -> Result<Journal> {
    let read = || Journal::parse(&fs::read(committed.join("journal.json"))?);
    read().with_context(|| format!("{FOLDER}/{COMMITTED}/journal.json cannot be read"))
}

/// Step 3, as often as it takes.
fn apply(root: &Path, committed: &Path) -> Result<Done> {
    let journal = read_journal(committed)?;
    let mut done = Done::default();
    let kept = committed.join("kept");
    if kept.exists() {
        // The name was free when it was chosen; another command may have taken it.
        let folder = if root.join(&journal.recovery).exists() {
            Recovery::new(root).folder
        } else {
            journal.recovery.clone()
        };
        let move_kept = || {
            fs::create_dir_all(root.join(&folder).parent().unwrap_or(root))?;
            fs::rename(&kept, root.join(&folder))?;
            sync_folder(root.join(&folder).parent().unwrap_or(root))
        };
        move_kept().with_context(|| format!("{} cannot be made", folder.display()))?;
        done.recovery = Some(folder);
    }
    let mut folders = BTreeSet::new();
    let mut late = None;
    for (n, entry) in journal.entries.iter().enumerate() {
        let (path, staged) = (root.join(&entry.path), committed.join("new").join(n.to_string()));
        let now = hash_of(&path)?;
        if now == entry.new {
            continue;
        }
        if now == entry.old {
            put(&path, entry.new.is_some().then_some(&staged)).with_context(|| {
                format!(
                    "{} cannot be replaced; `cargo course` tries again at its next start",
                    entry.path
                )
            })?;
            folders.extend(path.parent().map(Path::to_owned));
        } else if entry.new.is_some() {
            let late = late.get_or_insert_with(|| Recovery::new(root));
            late.keep(
                &entry.path,
                fs::read(&staged).with_context(|| format!("{} is lost", staged.display()))?,
            )?;
            done.left.push(format!(
                "{} was changed meanwhile and stays as it is; what `{}` would have written is in \
                 {}.",
                entry.path,
                journal.command,
                late.folder.display()
            ));
        } else {
            done.left.push(format!(
                "{} was changed meanwhile and stays; `{}` would have removed it.",
                entry.path, journal.command
            ));
        }
    }
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        sync_folder(folder).with_context(|| format!("{} cannot be written", folder.display()))?;
    }
    discard(committed)?;
    tidy(root);
    Ok(done)
}

/// Puts a staged file into its place, or removes what is there.
fn put(path: &Path, staged: Option<&PathBuf>) -> Result<()> {
    let Some(staged) = staged else {
        fs::remove_file(path)?;
        for folder in path.ancestors().skip(1) {
            // Fails at the first folder that holds something else.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        return Ok(());
    };
    // Through a link, so that it stays one.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
    match fs::rename(staged, &path) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            write_atomically(&path, fs::read(staged)?)
        }
        // Another run of the runner has found the transaction too, and was faster.
        Err(error) if error.kind() == ErrorKind::NotFound && path.exists() => Ok(()),
        result => Ok(result?),
    }
}

/// Removes a folder of the transactions; from the first moment on it cannot be taken for a
/// committed one.
fn discard(path: &Path) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let away = path.with_file_name(format!("done-{}-{name}", std::process::id()));
    let remove = || {
        fs::rename(path, &away)?;
        fs::remove_dir_all(&away)
    };
    match remove() {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// Removes the folders of this module that are empty.
fn tidy(root: &Path) {
    let _ = fs::remove_dir(root.join(FOLDER)).and_then(|()| fs::remove_dir(root.join(".course")));
}

/// The hash that git gives a file of this content.
pub fn hash(content: &[u8]) -> String {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(format!("blob {}\0", content.len()).as_bytes());
    hash.update(content);
    hash.digest().to_string()
}

fn hash_of(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(hash(&content))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

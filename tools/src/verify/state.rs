//! The state of verification between runs: the outcome of each step, for the present files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, TryLockError},
    hash::{DefaultHasher, Hash, Hasher},
    io::{Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::context::Outcome;
use crate::files::{list, write_atomically};

/// A finished step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
    /// Elapsed seconds.
    pub(super) clock: f64,
    /// Seconds of processor time, if the system reports them.
    pub(super) processor: Option<f64>,
}

/// The outcomes of earlier steps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    /// Fingerprint of all files of the repository.
    fingerprint: u64,
    pub(super) rows: BTreeMap<String, Row>,
    /// Processor seconds that each step took when it last passed on this machine, for any version
    /// of the files. If processor time is unknown, elapsed seconds.
    #[serde(default)]
    pub(super) times: BTreeMap<String, f64>,
}

impl State {
    fn path(root: &Path) -> PathBuf {
        root.join("target/verify/state.json")
    }

    /// Loads the state for the present files. The times are kept even if files have changed since.
    ///
    /// # Errors
    /// If a file of the repository cannot be read.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let fingerprint = fingerprint(root)?;
        let text = fs::read_to_string(Self::path(root)).unwrap_or_default();
        let old: Self = serde_json::from_str(&text).unwrap_or_default();
        let same = old.fingerprint == fingerprint;
        let rows = if same { old.rows } else { BTreeMap::new() };
        Ok(Self { fingerprint, rows, times: old.times })
    }

    /// Adds a finished step, and writes the state to its file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn add(&mut self, root: &Path, row: Row) -> Result<()> {
        if matches!(row.outcome, Outcome::Passed(_) | Outcome::Missed(_)) {
            self.times.insert(row.id.clone(), row.processor.unwrap_or(row.clock));
        }
        self.rows.insert(row.id.clone(), row);
        write_atomically(&Self::path(root), serde_json::to_string_pretty(self)?)
    }

    /// Removes all steps, so that after an interrupted run, the state has only the steps of that
    /// run.
    pub(super) fn forget(&mut self) {
        self.rows.clear();
    }
}

/// Returns a number that changes if any file of the repository changes.
fn fingerprint(root: &Path) -> Result<u64> {
    let mut files = BTreeSet::new();
    list(root, Path::new(""), &mut files)?;
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        fs::read(root.join(&file)).with_context(|| file.display().to_string())?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Locks the folder of verification until the result is dropped.
///
/// # Errors
/// If another verification runs, or the folder cannot be written.
pub(super) fn lock(root: &Path) -> Result<File> {
    let folder = root.join("target/verify");
    let path = folder.join("lock");
    fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be written", folder.display()))?;
    let mut file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            let _ = file.read_to_string(&mut owner);
            bail!("another verification is running here (process {}); wait for it", owner.trim());
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("{} cannot be locked", path.display()));
        }
    }
    file.set_len(0)?;
    write!(file, "{}", std::process::id())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str) -> Row {
        let outcome = Outcome::Passed("3 tests".to_owned());
        Row { id: id.to_owned(), outcome, clock: 2.0, processor: Some(3.0) }
    }

    #[test]
    fn outcomes_are_remembered_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("a"), "1").unwrap();
        let mut state = State::load(root).unwrap();
        state.add(root, row("units")).unwrap();
        let again = State::load(root).unwrap();
        assert_eq!(again.rows["units"].outcome, Outcome::Passed("3 tests".to_owned()));
        fs::write(root.join("a"), "2").unwrap();
        let changed = State::load(root).unwrap();
        assert!(changed.rows.is_empty() && changed.times["units"] == 3.0);
    }

    #[test]
    fn lock_rejects_a_second_verification() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        let error = lock(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("another verification is running here (process "), "{error}");
        drop(held);
        lock(folder.path()).unwrap();
    }
}

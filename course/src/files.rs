//! The repository's place, and writes that cannot lose anything.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail};

use crate::curriculum;

/// The repository around the current folder.
///
/// # Errors
/// If there is none.
pub(crate) fn repository_root() -> Result<PathBuf> {
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    match here.ancestors().find(|folder| folder.join(curriculum::PATH).is_file()) {
        Some(root) => Ok(root.to_owned()),
        None => bail!("{} lies in no folder above {}: run this inside the course's repository", curriculum::PATH, here.display()),
    }
}

/// Replaces a file in one step: at every moment it is either the old one or the new one.
pub(crate) fn write_atomically(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let folder = path.parent().context("a file lies in a folder")?;
    let name = path.file_name().context("a file has a name")?.to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        write_synced(&temporary, content.as_ref())?;
        fs::rename(&temporary, path)?;
        sync_folder(folder)
    };
    write().with_context(|| format!("{} cannot be written", path.display())).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Writes a file that nothing else reads yet, down to the disk.
pub(crate) fn write_synced(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Makes the names in a folder last through a power cut, where the platform can.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// `.course/recovery/<time>/`: where the files that one command replaces are kept.
#[derive(Debug)]
pub(crate) struct Recovery {
    root: PathBuf,
    /// The folder, relative to the repository. It appears with the first file.
    pub(crate) folder: PathBuf,
}

impl Recovery {
    /// A folder named after the present time, in UTC.
    pub(crate) fn new(root: &Path) -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
        let name = timestamp(seconds);
        let folder = (1..)
            .map(|n| Path::new(".course/recovery").join(if n == 1 { name.clone() } else { format!("{name}-{n}") }))
            .find(|folder| !root.join(folder).exists())
            .expect("some number is free");
        Self { root: root.to_owned(), folder }
    }

    /// Keeps a copy of the file at `path`, which is relative to the repository.
    pub(crate) fn keep(&self, path: &str, content: impl AsRef<[u8]>) -> Result<()> {
        write_atomically(&self.root.join(&self.folder).join(path), content)
    }
}

/// `2025-03-09T07-05-00Z`: sorts by time and is a file name on every platform.
fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}T{:02}-{:02}-{:02}Z", month + 1, day + 1, rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_calendar_dates() {
        assert_eq!(timestamp(0), "1970-01-01T00-00-00Z");
        assert_eq!(timestamp(951_782_399), "2000-02-28T23-59-59Z");
        assert_eq!(timestamp(951_782_400), "2000-02-29T00-00-00Z");
        assert_eq!(timestamp(1_741_503_900), "2025-03-09T07-05-00Z");
    }

    #[test]
    fn a_write_leaves_nothing_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file.rs");
        write_atomically(&path, "one").unwrap();
        write_atomically(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_says_which() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir_all(path.join("full")).unwrap();
        let error = write_atomically(&path, "text").unwrap_err().to_string();
        assert!(error.contains("taken"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the temporary file is gone");
    }

    #[test]
    fn two_recoveries_in_one_second_do_not_meet() {
        let root = tempfile::tempdir().unwrap();
        let first = Recovery::new(root.path());
        first.keep("src/a.rs", "first").unwrap();
        let second = Recovery::new(root.path());
        assert_ne!(first.folder, second.folder);
        assert_eq!(fs::read_to_string(root.path().join(&first.folder).join("src/a.rs")).unwrap(), "first");
    }
}

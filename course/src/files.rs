//! The repository's place, and writes that cannot lose anything.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result, bail};

use crate::curriculum;

/// Folders of the repository that are made, not written; as in .gitignore.
pub const MADE: [&str; 6] = [".git", "target", ".venv", ".course", "book/book", "models/hub"];

/// The repository around the current folder.
///
/// # Errors
/// If there is none.
pub fn repository_root() -> Result<PathBuf> {
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    match here.ancestors().find(|folder| folder.join(curriculum::PATH).is_file()) {
        Some(root) => Ok(root.to_owned()),
        None => bail!(
            "{} lies in no folder above {}: run this inside the course's repository",
            curriculum::PATH,
            here.display()
        ),
    }
}

/// Replaces a file in one step: at every moment it is either the old one or the new one.
pub fn write_atomically(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
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
pub fn write_synced(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Makes the names in a folder last through a power cut, where the platform can.
pub fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Writes a file only if its content changes, so that cargo sees nothing new where nothing is.
pub fn write_if_changed(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        fs::write(path, content)
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}

/// Adds the written files of the repository `root` below `folder`, as paths from `root`; links are
/// followed, so that a model folder that is linked to counts as one.
///
/// # Errors
/// If a folder cannot be listed.
pub fn list(root: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(root.join(folder))
        .with_context(|| format!("{} cannot be listed", root.join(folder).display()))?
    {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let made = MADE.iter().any(|made| path == Path::new(made));
        let cache = entry.file_name() == "__pycache__" || entry.file_name() == ".pytest_cache";
        if made || cache {
            continue;
        }
        if root.join(&path).is_dir() {
            list(root, &path, found)?;
        } else if root.join(&path).is_file() {
            found.insert(path);
        }
    }
    Ok(())
}

/// `.course/recovery/<time>/`: where the files that one command replaces are kept.
#[derive(Debug)]
pub struct Recovery {
    root: PathBuf,
    /// The folder, relative to the repository. It appears with the first file.
    pub folder: PathBuf,
}

impl Recovery {
    /// A folder named after the present time, in UTC.
    pub fn new(root: &Path) -> Self {
        let name = utc_now();
        let folder = (1..)
            .map(|n| {
                Path::new(".course/recovery").join(if n == 1 {
                    name.clone()
                } else {
                    format!("{name}-{n}")
                })
            })
            .find(|folder| !root.join(folder).exists())
            .expect("some number is free");
        Self { root: root.to_owned(), folder }
    }

    /// Keeps a copy of the file at `path`, which is relative to the repository.
    pub fn keep(&self, path: &str, content: impl AsRef<[u8]>) -> Result<()> {
        write_atomically(&self.root.join(&self.folder).join(path), content)
    }

    /// Moves the file at `path` here, byte for byte; `path` is relative to the repository.
    pub fn take(&self, path: &str) -> Result<()> {
        let kept = self.root.join(&self.folder).join(path);
        let take = || {
            fs::create_dir_all(kept.parent().unwrap_or(&self.root))?;
            fs::rename(self.root.join(path), &kept)
        };
        take().with_context(|| format!("{path} cannot be moved to {}", self.folder.display()))
    }
}

/// The present time, which sorts by time and is a file name.
pub fn utc_now() -> String {
    timestamp(SystemTime::now())
}

/// `2025-03-09T07-05-00Z`: sorts by time and is a file name on every platform.
fn timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().replace(':', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_file_names() {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_741_503_900);
        assert_eq!(timestamp(time), "2025-03-09T07-05-00Z");
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
        assert_eq!(
            fs::read_to_string(root.path().join(&first.folder).join("src/a.rs")).unwrap(),
            "first"
        );
    }
}

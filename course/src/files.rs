//! Finds and lists the repository's files, and replaces files so that a crash loses no content.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result, bail};

use crate::curriculum;

/// Folders that are not part of the course: git's own, and those with generated or downloaded
/// files, as in `.gitignore`.
pub const MADE: [&str; 6] = [".git", "target", ".venv", ".course", "book/book", "models/hub"];

/// Returns the repository that contains the current folder.
///
/// # Errors
/// If the current folder is not in a repository.
pub fn repository_root() -> Result<PathBuf> {
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    match here.ancestors().find(|folder| folder.join(curriculum::PATH).is_file()) {
        Some(root) => Ok(root.to_owned()),
        None => bail!(
            "found no {} in or above {}: run this inside the course's repository",
            curriculum::PATH,
            here.display()
        ),
    }
}

/// Replaces a file in one step: at every moment it is either the old or the new file. A symbolic
/// link remains a link, and an executable file remains executable.
pub fn write_atomically(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().context("the file's path has no parent folder")?;
    let name = target
        .file_name()
        .with_context(|| format!("{}: this path doesn't end in a file name", path.display()))?
        .to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = File::create(&temporary)?;
        file.write_all(content.as_ref())?;
        if let Ok(old) = fs::metadata(&target) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&temporary, &target)?;
        // Make the new name survive a power failure, if the platform supports that.
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    };
    write().with_context(|| format!("{} cannot be written", path.display())).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Writes a file only if its content changes, so that cargo doesn't rebuild anything unnecessarily.
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

/// Adds all files in `folder` to `found`, as paths relative to `root`, the repository. Skips
/// [`MADE`], Python's caches and temporary files. Also adds the files in linked folders.
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
        if made || cache || is_temporary(&entry.file_name().to_string_lossy()) {
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

/// Returns whether [`write_atomically`] may have created a file with this name. Such a file may
/// remain if a command is killed.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

/// Formats a path with `/`, as git and the curriculum do: `src/week1/mod.rs`.
///
/// # Errors
/// If a name is not UTF-8.
pub fn slashed(path: &Path) -> Result<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    Ok(parts.with_context(|| format!("{} is not UTF-8", path.display()))?.join("/"))
}

/// The folder `.course/recovery/<time>/`, where the files that a command replaces are kept.
#[derive(Debug)]
pub struct Recovery {
    root: PathBuf,
    folder: Option<PathBuf>,
}

impl Recovery {
    /// Creates the value, but not yet the folder on disk.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), folder: None }
    }

    /// Returns the folder, relative to the repository, if it has been created.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Prints the folder of the replaced files, if any were kept.
    pub fn print(&self) {
        if let Some(folder) = &self.folder {
            println!("The old version is kept in {}.", folder.display());
        }
    }

    /// Returns the folder, and creates it if necessary. Its name is the current time in UTC. If
    /// another command has created a folder in the same second, uses a different name.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn make(&mut self) -> Result<PathBuf> {
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        let (all, time) = (Path::new(".course/recovery"), utc_now());
        let (mut folder, mut n) = (all.join(&time), 1);
        let make = || {
            fs::create_dir_all(self.root.join(all))?;
            loop {
                match fs::create_dir(self.root.join(&folder)) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        n += 1;
                        folder = all.join(format!("{time}-{n}"));
                    }
                    result => return result.map(|()| folder),
                }
            }
        };
        let folder = make().with_context(|| format!("{} cannot be created", all.display()))?;
        self.folder = Some(folder.clone());
        Ok(folder)
    }

    /// Moves the file at `path`, relative to the repository, into the folder, unchanged. Returns
    /// the folder.
    ///
    /// # Errors
    /// If the file cannot be moved.
    pub fn take(&mut self, path: &str) -> Result<PathBuf> {
        let folder = self.make()?;
        let kept = self.root.join(&folder).join(path);
        let take = || {
            fs::create_dir_all(kept.parent().unwrap_or(&self.root))?;
            fs::rename(self.root.join(path), &kept)
        };
        take().with_context(|| format!("{path} cannot be moved to {}", folder.display()))?;
        Ok(folder)
    }
}

/// Returns the current time, in a format that sorts by time and is a valid file name.
pub fn utc_now() -> String {
    timestamp(SystemTime::now())
}

/// Formats a time as `2025-03-09T07-05-00Z`, which sorts by time and is a valid file name on every
/// platform.
fn timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().replace(':', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamp_is_a_valid_file_name() {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_741_503_900);
        assert_eq!(timestamp(time), "2025-03-09T07-05-00Z");
    }

    #[test]
    fn write_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file.rs");
        write_atomically(&path, "one").unwrap();
        write_atomically(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn failed_write_names_the_file_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir_all(path.join("full")).unwrap();
        let error = write_atomically(&path, "text").unwrap_err().to_string();
        assert!(error.contains("taken"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the temporary file is gone");
    }

    #[test]
    fn recoveries_in_one_second_get_different_folders() {
        let root = tempfile::tempdir().unwrap();
        let made = || Recovery::new(root.path()).make().unwrap();
        let folders = [(); 3].map(|()| made());
        assert!(folders[0] != folders[1] && folders[1] != folders[2], "{folders:?}");
        assert!(folders.iter().all(|folder| root.path().join(folder).is_dir()));
    }
}

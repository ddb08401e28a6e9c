//! The cache on disk: where blobs (the contents of files) are stored, and how they are named.
//!
//! The layout is `huggingface_hub`'s, which `tiny_llm_formats::hub` describes. The lock of a blob
//! is the file `.locks/models--OWNER--NAME/HASH.lock`.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, ensure};
use tiny_llm_formats::{hub::Name, unfinished::cannot_be_written};

use crate::{
    hash::Hash,
    hub::Remote,
    show::{Show, size},
};

/// The folders of one repository: its cache and its locks.
pub(crate) struct Store {
    folder: PathBuf,
    locks: PathBuf,
}

/// How a file of a snapshot refers to its blob.
#[derive(Clone, Copy)]
enum Way {
    /// A relative symbolic link, as in `huggingface_hub`.
    Link,
    /// A hard link, if the system forbids symbolic links.
    Name,
    /// A copy, if the file system has no links.
    Copy,
}

impl Store {
    pub(crate) fn new(name: &Name, cache: &Path) -> Self {
        let folder = name.folder(cache);
        let locks = cache.join(".locks").join(folder.file_name().unwrap_or_default());
        Self { folder, locks }
    }

    /// Returns the path of a blob.
    pub(crate) fn blob(&self, hash: &Hash) -> PathBuf {
        self.folder.join("blobs").join(hash.text())
    }

    /// Returns the path of a blob that is being downloaded.
    pub(crate) fn incomplete(&self, hash: &Hash) -> PathBuf {
        self.folder.join("blobs").join(format!("{}.incomplete", hash.text()))
    }

    /// Returns whether a blob is stored, with the right length.
    pub(crate) fn has(&self, remote: &Remote) -> bool {
        fs::metadata(self.blob(&remote.hash)).is_ok_and(|found| found.len() == remote.size)
    }

    /// Returns how many bytes of a file are stored.
    pub(crate) fn present(&self, remote: &Remote) -> u64 {
        if self.has(remote) {
            return remote.size;
        }
        let found = fs::metadata(self.incomplete(&remote.hash)).map_or(0, |found| found.len());
        if found > remote.size { 0 } else { found }
    }

    /// Checks that the file system of the cache has room for this many bytes.
    pub(crate) fn check_space(&self, bytes: u64) -> Result<()> {
        let there = self.folder.ancestors().find(|path| path.exists());
        let Some(Ok(free)) = there.map(fs4::available_space) else { return Ok(()) };
        let cache = self.folder.parent().unwrap_or(&self.folder).display();
        ensure!(
            free >= bytes,
            "{cache}: found {} of free disk space, expected at least {}",
            size(free),
            size(bytes)
        );
        Ok(())
    }

    /// Waits until no other process downloads this blob, then locks it.
    pub(crate) fn lock(&self, remote: &Remote, show: &Show) -> Result<File> {
        let path = self.locks.join(format!("{}.lock", remote.hash.text()));
        create_folder(&self.locks)?;
        let wrong = |e: io::Error| anyhow!("{}: cannot be locked: {e}", path.display());
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        loop {
            let file = options.open(&path).map_err(wrong)?;
            match file.try_lock() {
                Ok(()) => (),
                Err(TryLockError::WouldBlock) => {
                    show.note(&format!(
                        "{}: waiting for another process that is downloading this file",
                        remote.file
                    ));
                    file.lock().map_err(wrong)?;
                }
                Err(TryLockError::Error(e)) => return Err(wrong(e)),
            }
            // Some versions of huggingface_hub remove the lock file.
            if is_named(&file) {
                return Ok(file);
            }
        }
    }

    /// Opens or creates the incomplete file of a blob, for reading and writing.
    pub(crate) fn open_incomplete(&self, hash: &Hash) -> Result<File> {
        create_folder(&self.folder.join("blobs"))?;
        let path = self.incomplete(hash);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        options.open(&path).map_err(|e| cannot_be_written(&path, &e))
    }

    /// Gives a complete blob its final name.
    pub(crate) fn finish(&self, hash: &Hash, file: &File) -> Result<()> {
        let (from, to) = (self.incomplete(hash), self.blob(hash));
        let renamed = file.sync_all().and_then(|()| fs::rename(from, &to));
        renamed.map_err(|e| cannot_be_written(&to, &e))
    }

    /// Creates the file of the commit's snapshot that refers to the blob of `remote`.
    pub(crate) fn link(&self, commit: &str, remote: &Remote) -> Result<()> {
        let path = self.folder.join("snapshots").join(commit).join(&remote.file);
        let blob = self.blob(&remote.hash);
        let above = "../".repeat(2 + remote.file.matches('/').count());
        let target = PathBuf::from(format!("{above}blobs/{}", remote.hash.text()));
        if fs::read_link(&path).is_ok_and(|found| found == target) {
            return Ok(());
        }
        create_folder(path.parent().unwrap_or(&self.folder))?;
        let ways = [Way::Link, Way::Name, Way::Copy];
        self.replace(&path, |new| by_any(&ways, &target, &blob, new))
    }

    /// Records that `revision` refers to `commit`.
    pub(crate) fn write_ref(&self, revision: &str, commit: &str) -> Result<()> {
        let path = self.folder.join("refs").join(revision);
        if revision == commit || fs::read(&path).is_ok_and(|found| found == commit.as_bytes()) {
            return Ok(());
        }
        create_folder(path.parent().unwrap_or(&self.folder))?;
        self.replace(&path, |new| fs::write(new, commit))
    }

    /// Creates a file under a temporary name, then renames it, so that no reader sees a part of it.
    fn replace(&self, path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> Result<()> {
        let new = self.folder.join(format!(".{}.unfinished", std::process::id()));
        // Left by a killed process with the same id.
        let _ = fs::remove_file(&new);
        let made = make(&new).and_then(|()| fs::rename(&new, path));
        made.map_err(|e| cannot_be_written(path, &e))
    }
}

/// Creates the file `new`, which refers to `blob`, in the first of `ways` that the system supports.
/// A symbolic link contains `target`.
fn by_any(ways: &[Way], target: &Path, blob: &Path, new: &Path) -> io::Result<()> {
    let mut result = Ok(());
    for way in ways {
        result = match way {
            Way::Link => symlink(target, new),
            Way::Name => fs::hard_link(blob, new),
            Way::Copy => fs::copy(blob, new).map(drop),
        };
        if result.is_ok() {
            break;
        }
    }
    result
}

#[cfg(unix)]
fn symlink(target: &Path, new: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, new)
}

#[cfg(windows)]
fn symlink(target: &Path, new: &Path) -> io::Result<()> {
    let target = target.to_string_lossy().replace('/', "\\");
    std::os::windows::fs::symlink_file(target, new)
}

#[cfg(not(any(unix, windows)))]
fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns whether a file still has a name, that is, has not been deleted.
fn is_named(file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.metadata().is_ok_and(|found| found.nlink() > 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        true
    }
}

fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("{}: cannot be created", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_link_has_the_content_of_the_blob() {
        let folder = tempfile::tempdir().expect("a folder");
        let name: Name = "owner/name".parse().expect("a name");
        let store = Store::new(&name, folder.path());
        let hash = Hash::of_etag(&"a".repeat(40)).expect("a hash");
        let (blob, inside) = (store.blob(&hash), store.folder.join("snapshots/c"));
        fs::create_dir_all(blob.parent().expect("a folder")).expect("a folder");
        fs::create_dir_all(&inside).expect("a folder");
        fs::write(&blob, "content").expect("a file");
        let target = PathBuf::from(format!("../../blobs/{}", hash.text()));
        for way in [Way::Link, Way::Name, Way::Copy] {
            let path = inside.join("file");
            store.replace(&path, |new| by_any(&[way], &target, &blob, new)).expect("a file");
            assert_eq!(fs::read_to_string(&path).expect("a file"), "content");
        }
        let nowhere = folder.path().join("none");
        let failed = by_any(&[Way::Name, Way::Copy], &target, &nowhere, &inside.join("other"));
        assert!(failed.is_err());
    }
}

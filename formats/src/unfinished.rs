//! Writes a file under a temporary name, then renames it, so that it is either complete or absent.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, Result, anyhow, ensure};

/// The temporary paths of all [`Unfinished`] values. When a program is stopped, [`remove_all`] can
/// remove the files and folders at these paths.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file or folder that is being written. When this value is dropped and [`Unfinished::finish`]
/// was not called, the file or folder is removed.
pub struct Unfinished {
    path: PathBuf,
    target: PathBuf,
}

impl Unfinished {
    /// Chooses a temporary name, which contains the process id. It is in the target's folder, since
    /// a rename must not cross file systems. Nothing is created. If the target is a symbolic link,
    /// [`Unfinished::finish`] replaces the file that the link points to, and the link stays.
    ///
    /// # Errors
    /// If the target does not end in a name, is a broken link, or exists but is neither a file nor
    /// a folder. (A rename would replace a device or a pipe with a file.)
    pub fn new(target: &Path) -> Result<Self> {
        let target = resolved(target)?;
        let name = target.file_name().with_context(|| {
            format!("{}: expected a path that ends in a file or folder name", target.display())
        })?;
        let name = format!(".{}.{}.unfinished", name.to_string_lossy(), std::process::id());
        let path = target.with_file_name(name);
        list().push(path.clone());
        Ok(Self { path, target })
    }

    /// Returns the temporary path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the temporary file or folder to the target. An existing file is replaced.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub fn finish(self) -> Result<()> {
        fs::rename(&self.path, &self.target).map_err(|e| cannot_be_written(&self.target, &e))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        list().retain(|path| *path != self.path);
        // After `finish`, there is nothing to remove.
        remove(&self.path);
    }
}

/// Removes all unfinished files and folders. Call this before the program ends without unwinding.
pub fn remove_all() {
    // A thread that is creating a file may hold the lock. Waiting for it could take forever.
    if let Ok(paths) = UNFINISHED.try_lock() {
        paths.iter().for_each(|path| remove(path));
    }
}

fn list() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove(path: &Path) {
    // A failure cannot be reported here.
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Returns the path that a rename should replace: `target`, or what it points to if it is a link.
fn resolved(target: &Path) -> Result<PathBuf> {
    let Ok(found) = fs::symlink_metadata(target) else { return Ok(target.to_owned()) };
    let name = target.display();
    let path = if found.is_symlink() {
        fs::canonicalize(target)
            .map_err(|e| anyhow!("{name}: found a broken link ({e}), expected a file"))?
    } else {
        target.to_owned()
    };
    let found = fs::metadata(&path).map_err(|e| cannot_be_written(target, &e))?;
    ensure!(
        found.is_file() || found.is_dir(),
        "{name}: found a device or a pipe, expected the name of a file"
    );
    Ok(path)
}

/// Returns the error that `path` cannot be written. Pass the target, not the temporary path.
#[must_use]
pub fn cannot_be_written(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{}: cannot be written: {error}", path.display())
}

/// Adds the file's name to a system error that occurred while the file was being written. Without
/// this, such an error (a full disk, for example) does not say which file it is about. Other errors
/// are returned unchanged.
#[must_use]
pub fn named(path: &Path, error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<io::Error>() {
        Ok(system) => cannot_be_written(path, &system),
        Err(other) => other,
    }
}

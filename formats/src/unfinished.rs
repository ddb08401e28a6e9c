//! A file that is complete or absent: written beside its place, then renamed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow};

/// A file or folder in the making. It vanishes unless it is put into its place.
pub struct Unfinished {
    /// Where it is until then.
    pub path: PathBuf,
    target: PathBuf,
}

impl Unfinished {
    /// A name that nobody else uses, in the same folder: a rename must not cross file systems.
    /// Nothing is created.
    ///
    /// # Errors
    /// If the target does not end in a name.
    pub fn new(target: &Path) -> Result<Self> {
        let name = target.file_name().with_context(|| {
            format!("{}: expected a path that ends in a name", target.display())
        })?;
        let name = format!(".{}.{}.unfinished", name.to_string_lossy(), std::process::id());
        Ok(Self { path: target.with_file_name(name), target: target.to_owned() })
    }

    /// Puts it into its place. A file that was there is replaced.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn finish(self) -> Result<()> {
        fs::rename(&self.path, &self.target).map_err(|e| cannot_be_written(&self.target, &e))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After `finish` nothing is there; before it, there is nobody to tell of a failure.
        let _ = if self.path.is_dir() {
            fs::remove_dir_all(&self.path)
        } else {
            fs::remove_file(&self.path)
        };
    }
}

/// Names the file that was asked for, not the one that is written first.
#[must_use]
pub fn cannot_be_written(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{}: cannot be written: {error}", path.display())
}

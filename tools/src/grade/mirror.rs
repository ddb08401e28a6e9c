//! A folder kept equal to another, although strangers' programs write into it.
//!
//! What was copied is remembered with its size, its time and, on Unix, the time of its last change
//! of any kind, which a program cannot set: so only what was touched is copied anew. Links are
//! removed, never followed.

use std::{
    collections::BTreeMap,
    fs::{self, File, FileTimes},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result};

/// What tells whether a file was touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    /// Unix: seconds and nanoseconds of the last change of content, times or rights.
    changed: (i64, i64),
}

impl Stamp {
    fn of(meta: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt;
            (meta.ctime(), meta.ctime_nsec())
        };
        #[cfg(not(unix))]
        let changed = (0, 0);
        Self { length: meta.len(), modified: meta.modified().ok(), changed }
    }
}

/// The regular files below a folder, as paths from it.
pub(super) type Files = BTreeMap<PathBuf, Stamp>;

/// Lists `root`; links and whatever else is neither file nor folder are removed if `clean`, and
/// left out in any case.
pub(super) fn files(root: &Path, clean: bool) -> Result<Files> {
    let mut found = Files::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let full = root.join(&folder);
        for entry in
            fs::read_dir(&full).with_context(|| format!("{} cannot be listed", full.display()))?
        {
            let entry = entry?;
            let (path, kind) = (folder.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                found.insert(path, Stamp::of(&entry.metadata()?));
            } else if clean {
                fs::remove_file(entry.path())
                    .with_context(|| format!("{} cannot be removed", entry.path().display()))?;
            }
        }
    }
    Ok(found)
}

/// A copy of the folder `from`.
#[derive(Debug)]
pub(super) struct Mirror {
    from: PathBuf,
    to: PathBuf,
    /// What stood in `from` when the mirror was made.
    source: Files,
    /// What was copied.
    copied: Files,
}

impl Mirror {
    /// Remembers what stands in `from`; copies nothing yet.
    pub(super) fn new(from: PathBuf, to: PathBuf) -> Result<Self> {
        let source = files(&from, false)?;
        Ok(Self { from, to, source, copied: Files::new() })
    }

    /// Whether `from` is as it was.
    pub(super) fn source_is_whole(&self) -> Result<bool> {
        Ok(files(&self.from, false)? == self.source)
    }

    /// Makes `to` equal to `from` again, and returns how many files were copied.
    pub(super) fn restore(&mut self) -> Result<usize> {
        remove_link(&self.to)?;
        fs::create_dir_all(&self.to)
            .with_context(|| format!("{} cannot be made", self.to.display()))?;
        let found = files(&self.to, true)?;
        for path in found.keys().filter(|path| !self.source.contains_key(*path)) {
            fs::remove_file(self.to.join(path))
                .with_context(|| format!("{} cannot be removed", self.to.join(path).display()))?;
        }
        let mut copied = 0;
        for path in self.source.keys() {
            if found.get(path).is_some_and(|stamp| self.copied.get(path) == Some(stamp)) {
                continue;
            }
            let (from, to) = (self.from.join(path), self.to.join(path));
            let stamp = copy(&from, &to).with_context(|| {
                format!("{} cannot be copied to {}", from.display(), to.display())
            })?;
            self.copied.insert(path.clone(), stamp);
            copied += 1;
        }
        Ok(copied)
    }
}

/// Removes what stands at `path` if it is a link or a file where a folder belongs.
pub(super) fn remove_link(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_dir() => {
            fs::remove_file(path).with_context(|| format!("{} cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// Copies a file with its time, by which cargo judges what is fresh.
fn copy(from: &Path, to: &Path) -> Result<Stamp> {
    if fs::symlink_metadata(to).is_ok_and(|meta| meta.is_dir()) {
        fs::remove_dir_all(to)?;
    }
    let folder = to.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    // A new file, so that another name of the old one does not change with it.
    let _ = fs::remove_file(to);
    fs::copy(from, to)?;
    let modified = fs::metadata(from)?.modified()?;
    File::options().write(true).open(to)?.set_times(FileTimes::new().set_modified(modified))?;
    Ok(Stamp::of(&fs::symlink_metadata(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write;

    fn mirrored() -> (tempfile::TempDir, Mirror) {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "from/a", "aaaa");
        write(folder.path(), "from/in/b", "bbbb");
        let mut mirror = Mirror::new(folder.path().join("from"), folder.path().join("to")).unwrap();
        assert_eq!(mirror.restore().unwrap(), 2);
        (folder, mirror)
    }

    fn texts(root: &Path) -> Vec<(String, String)> {
        let read = |path: &PathBuf| {
            (path.display().to_string(), fs::read_to_string(root.join(path)).unwrap())
        };
        files(root, false).unwrap().keys().map(read).collect()
    }

    #[test]
    fn what_was_touched_is_copied_anew_and_nothing_else() {
        let (folder, mut mirror) = mirrored();
        assert_eq!(mirror.restore().unwrap(), 0);
        let to = folder.path().join("to");
        let time = fs::metadata(to.join("a")).unwrap().modified().unwrap();
        assert_eq!(time, fs::metadata(folder.path().join("from/a")).unwrap().modified().unwrap());

        fs::write(to.join("a"), "evil").unwrap();
        File::options()
            .write(true)
            .open(to.join("a"))
            .unwrap()
            .set_times(FileTimes::new().set_modified(time))
            .unwrap();
        fs::remove_file(to.join("in/b")).unwrap();
        write(&to, "new/c", "");
        // Elsewhere a file of the same size and time is taken for the same.
        assert_eq!(mirror.restore().unwrap(), if cfg!(unix) { 2 } else { 1 });
        if cfg!(unix) {
            assert_eq!(texts(&to), texts(&folder.path().join("from")));
        }
    }

    #[test]
    fn a_changed_source_is_noticed() {
        let (folder, mirror) = mirrored();
        assert!(mirror.source_is_whole().unwrap());
        fs::write(folder.path().join("from/a"), "evil").unwrap();
        assert!(!mirror.source_is_whole().unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_removed_and_not_followed() {
        let (folder, mut mirror) = mirrored();
        write(folder.path(), "outside/precious", "text");
        let to = folder.path().join("to");
        fs::remove_dir_all(to.join("in")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("outside"), to.join("in")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("outside"), to.join("more")).unwrap();
        mirror.restore().unwrap();
        assert_eq!(texts(&to), texts(&folder.path().join("from")));
        assert_eq!(
            texts(&folder.path().join("outside")),
            [("precious".to_owned(), "text".to_owned())]
        );

        fs::remove_dir_all(&to).unwrap();
        std::os::unix::fs::symlink(folder.path().join("outside"), &to).unwrap();
        mirror.restore().unwrap();
        assert_eq!(texts(&to), texts(&folder.path().join("from")));
        assert_eq!(texts(&folder.path().join("outside")).len(), 1);
    }
}

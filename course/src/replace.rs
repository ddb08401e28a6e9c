//! Replaces files that may hold a learner's work.
//!
//! Each file is replaced by a rename. Before that, all old contents that may include a learner's
//! work are copied to `.course/recovery/<time>/`. So if the program is killed, every file is either
//! the old one or the new one, and nothing is lost. If it has replaced only some files, running the
//! same command again replaces the rest. At worst, a temporary file `.NAME.PROCESS.tmp` remains
//! next to one of the files. It can be deleted.

use std::{fs, io::ErrorKind, path::Path, thread};

use anyhow::{Context, Result, ensure};

use crate::files::{Recovery, write_atomically};

/// A file to replace, with its old and its new contents.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// Path, relative to the repository, such as `src/week1/attention/attention.rs`.
    pub path: String,
    /// Contents when the command read the file, or `None` if there was no file.
    pub old: Option<Vec<u8>>,
    /// New contents, or `None` to remove the file.
    pub new: Option<Vec<u8>>,
    /// Whether `old` may contain the learner's work.
    pub keep: bool,
}

/// Replaces the files, in no particular order. Skips a file that already has its new contents, so
/// two commands may make the same replacements concurrently.
///
/// # Errors
/// If a file was changed since it was read, or cannot be replaced. That file stays unchanged, but
/// some of the others may have been replaced.
pub fn replace(root: &Path, recovery: &mut Recovery, files: &[Replacement]) -> Result<()> {
    let kept: Vec<(String, &[u8])> = files
        .iter()
        .filter(|file| file.keep)
        .filter_map(|file| Some((file.path.clone(), file.old.as_deref()?)))
        .collect();
    if !kept.is_empty() {
        let folder = recovery.make()?;
        each(&kept, |(path, old)| write_atomically(&root.join(&folder).join(path), old))?;
    }
    each(files, |file| replace_one(root, file))
}

fn replace_one(root: &Path, Replacement { path, old, new, .. }: &Replacement) -> Result<()> {
    let place = root.join(path);
    let now = read(root, path)?;
    if now == *new {
        return Ok(());
    }
    ensure!(
        now == *old,
        "{path} was not replaced, because it changed while this command ran; run the command again"
    );
    let Some(new) = new else {
        fs::remove_file(&place).with_context(|| format!("{path} cannot be removed"))?;
        // Stop at the first folder that contains something else.
        for folder in place.ancestors().skip(1).take_while(|folder| *folder != root) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        return Ok(());
    };
    write_atomically(&place, new)
}

/// Calls `write` for each of `files`. A write waits for the disk, so up to 16 run at the same time.
fn each<T: Sync>(files: &[T], write: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let write = &write;
    thread::scope(|scope| {
        let share = files.len().div_ceil(16).max(1);
        let writers: Vec<_> = files
            .chunks(share)
            .map(|files| scope.spawn(move || files.iter().try_for_each(write)))
            .collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("no write panics"))
    })
}

/// Returns the contents of the file at `path`, or `None` if it does not exist.
///
/// # Errors
/// If the file cannot be read.
pub fn read(root: &Path, path: &str) -> Result<Option<Vec<u8>>> {
    match fs::read(root.join(path)) {
        Ok(content) => Ok(Some(content)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("{path} cannot be read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write;

    fn text(root: &Path, path: &str) -> Option<String> {
        fs::read_to_string(root.join(path)).ok()
    }

    /// Creates a folder and a plan to replace its file `a`, create `b/b` and remove `c/c`.
    fn planned() -> (tempfile::TempDir, Vec<Replacement>) {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "a", "old a");
        write(root.path(), "c/c", "old c");
        let file = |path: &str, old: Option<&str>, new: Option<&str>| Replacement {
            path: path.into(),
            old: old.map(Into::into),
            new: new.map(Into::into),
            keep: true,
        };
        let files = vec![
            file("a", Some("old a"), Some("new a")),
            file("b/b", None, Some("new b")),
            file("c/c", Some("old c"), None),
        ];
        (root, files)
    }

    #[test]
    fn replaces_files_and_keeps_the_old_contents() {
        let (root, files) = planned();
        let mut recovery = Recovery::new(root.path());
        replace(root.path(), &mut recovery, &files).unwrap();
        let all = || ["a", "b/b", "c/c"].map(|path| text(root.path(), path));
        assert_eq!(all(), [Some("new a".into()), Some("new b".into()), None]);
        assert!(!root.path().join("c").exists());
        let kept = root.path().join(recovery.folder().unwrap());
        assert_eq!(
            (text(&kept, "a"), text(&kept, "c/c")),
            (Some("old a".into()), Some("old c".into()))
        );
        // Another command had the same plan.
        replace(root.path(), &mut Recovery::new(root.path()), &files).unwrap();
        assert_eq!(all(), [Some("new a".into()), Some("new b".into()), None]);
    }

    #[test]
    fn keeps_a_file_that_changed_meanwhile() {
        for path in ["a", "b/b", "c/c"] {
            let (root, files) = planned();
            write(root.path(), path, "mine");
            let error = replace(root.path(), &mut Recovery::new(root.path()), &files);
            let expected = format!(
                "{path} was not replaced, because it changed while this command ran; run the command again"
            );
            assert_eq!(error.unwrap_err().to_string(), expected);
            assert_eq!(text(root.path(), path), Some("mine".into()));
        }
    }

    #[test]
    fn replaces_nothing_if_the_copy_fails() {
        let (root, files) = planned();
        write(root.path(), ".course/recovery", "no folder");
        let error = replace(root.path(), &mut Recovery::new(root.path()), &files).unwrap_err();
        assert!(error.to_string().contains(".course/recovery"), "{error:#}");
        assert_eq!(text(root.path(), "a"), Some("old a".into()));
    }
}

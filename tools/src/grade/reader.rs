//! Reads a submission: a separate program, sandboxed and with limits, finds the Rust files of the
//! weeks and prints them.
//!
//! It follows no links, and stops at its limits of files, bytes, depth and entries.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::{
    limited::Limits,
    wall::{Kind, Shut, Wall},
};

/// The hidden command of `cargo course` that reads a folder.
pub(super) const COMMAND: &str = "read-submission";

/// Maximum size of a file.
pub(super) const FILE_LIMIT: u64 = 1 << 20; // bytes
/// Maximum total size of all files.
const TOTAL_LIMIT: u64 = 4 << 20; // bytes
/// Maximum number of files.
const FILES: usize = 200;
/// Maximum number of files and folders in all folders that are read.
const ENTRIES: usize = 2000;
/// Maximum depth of folders in `week1/`.
const DEPTH: usize = 4;

/// Description of a clone of the course, in which the weeks are in `src/`.
pub(super) const CLONE: &str = "a clone of the course (src/week1/)";
const WEEKS: &str = "a folder of weeks (week1/)";
const LOOSE: &str = "loose .rs files";

/// What the reader found in a submission's folder.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Found {
    /// How the submission is organized, such as [`CLONE`].
    pub(super) form: String,
    /// Texts of the files by path: `week1/attention/attention.rs`, or `attention.rs` for files
    /// without a folder.
    pub(super) files: BTreeMap<String, String>,
    /// Files that are not used and why, one per line.
    pub(super) findings: Vec<String>,
    /// If nothing can be graded, the reason.
    pub(super) refused: Option<String>,
}

/// If the first argument of this process is [`COMMAND`], prints the contents of the folder that the
/// second argument names, and returns the exit code.
pub(crate) fn run() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != COMMAND {
        return None;
    }
    let found = Found::of(Path::new(&arguments.next()?));
    let text = serde_json::to_string(&found).unwrap_or_default();
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    Some(if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Copies this program to `folder`, and returns the path of the copy. A build of the tools during
/// grading replaces this program, but not the copy.
///
/// # Errors
/// If it cannot be copied.
pub(super) fn copied(folder: &Path) -> Result<PathBuf> {
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let copy = folder.join("reader");
    fs::copy(program, &copy).with_context(|| format!("{} cannot be written", copy.display()))?;
    Ok(copy)
}

/// Reads the submission in `folder`, by running `program`, a copy of this program, in the sandbox.
pub(super) fn read(wall: &Wall, program: &Path, folder: &Path) -> Found {
    let refused = |error: String| Found {
        refused: Some(format!("the folder cannot be read: {error}")),
        ..Found::default()
    };
    let folder = match fs::canonicalize(folder) {
        Ok(folder) => folder,
        Err(error) => return refused(error.to_string()),
    };
    let inside = if wall.stands() { Path::new("/submission") } else { &folder };
    let shut = Shut {
        kind: Kind::Reader,
        program,
        arguments: vec![COMMAND.into(), inside.into()],
        folder: Path::new("/"),
        variables: Vec::new(),
        seen: vec![(folder.clone(), inside.to_owned()), (program.to_owned(), program.to_owned())],
        written: None,
    };
    let time = Duration::from_secs(60);
    // In JSON, a byte becomes at most six bytes.
    let output = 2 * 6 * TOTAL_LIMIT as usize;
    let limits = Limits { time, silence: time, processor: 20, memory: 512, output };
    match wall.run(shut, &limits) {
        Ok(ended) => {
            serde_json::from_str(&ended.stdout).unwrap_or_else(|_| refused(ended.reason(&limits)))
        }
        Err(error) => refused(format!("{error:#}")),
    }
}

impl Found {
    pub(super) fn of(folder: &Path) -> Self {
        let mut reader = Reader { found: Self::default(), total: 0, entries: 0 };
        if let Err(reason) = reader.read(folder) {
            reader.found.refused = Some(reason);
        }
        reader.found
    }
}

struct Reader {
    found: Found,
    total: u64,
    entries: usize,
}

impl Reader {
    fn read(&mut self, folder: &Path) -> Result<(), String> {
        for (inside, form) in [("src", CLONE), ("", WEEKS)] {
            let parent = folder.join(inside);
            if !is_folder(&parent) {
                continue;
            }
            let weeks: Vec<String> =
                self.list(&parent, inside)?.into_iter().filter(|name| is_week(name)).collect();
            let weeks: Vec<&String> =
                weeks.iter().filter(|week| is_folder(&parent.join(week))).collect();
            if !weeks.is_empty() {
                form.clone_into(&mut self.found.form);
                return weeks
                    .into_iter()
                    .try_for_each(|week| self.week(&parent.join(week), week, 0));
            }
        }
        LOOSE.clone_into(&mut self.found.form);
        for name in self.list(folder, "")? {
            self.entry(&folder.join(&name), &name)?;
        }
        let any = !self.found.files.is_empty() || !self.found.findings.is_empty();
        any.then_some(()).ok_or_else(|| {
            "found neither src/week1/ nor week1/ nor any .rs file; expected one of the three"
                .to_owned()
        })
    }

    /// Reads the files in `folder` and its subfolders. `inside` is its path in the submission.
    fn week(&mut self, folder: &Path, inside: &str, depth: usize) -> Result<(), String> {
        if depth > DEPTH {
            self.not_used(inside, &format!("it is nested deeper than {DEPTH} folders"));
            return Ok(());
        }
        for name in self.list(folder, inside)? {
            let (path, inside) = (folder.join(&name), format!("{inside}/{name}"));
            if is_folder(&path) {
                self.week(&path, &inside, depth + 1)?;
            } else {
                self.entry(&path, &inside)?;
            }
        }
        Ok(())
    }

    /// Returns the names in a folder, sorted.
    fn list(&mut self, folder: &Path, inside: &str) -> Result<Vec<String>, String> {
        let cannot = |error: std::io::Error| format!("the folder cannot be read: {error}");
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(cannot)? {
            self.entries += 1;
            if self.entries > ENTRIES {
                return Err(format!("the folder has more than {ENTRIES} files and folders"));
            }
            match entry.map_err(cannot)?.file_name().into_string() {
                Ok(name) => names.push(name),
                Err(name) => {
                    let path = PathBuf::from(inside).join(name);
                    self.not_used(&path.to_string_lossy(), "its name is not UTF-8");
                }
            }
        }
        names.sort();
        Ok(names)
    }

    /// Reads `path` if it is a Rust file. If it cannot be used, records why.
    fn entry(&mut self, path: &Path, inside: &str) -> Result<(), String> {
        let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
        if meta.is_symlink() {
            self.not_used(inside, "it is a link, and links are not followed");
        } else if !inside.ends_with(".rs") || meta.is_dir() {
            // Such an entry is not relevant for grading.
        } else if !meta.is_file() {
            self.not_used(inside, "it is not a regular file");
        } else if meta.len() > FILE_LIMIT {
            let why = format!("it has {} bytes; at most {FILE_LIMIT} are read", meta.len());
            self.not_used(inside, &why);
        } else {
            match text(path) {
                Ok(text) => {
                    self.total += text.len() as u64;
                    self.found.files.insert(inside.to_owned(), text);
                }
                Err(reason) => self.not_used(inside, &reason),
            }
        }
        if self.found.files.len() > FILES {
            return Err(format!("the folder has more than {FILES} .rs files"));
        }
        if self.total > TOTAL_LIMIT {
            return Err(format!("the .rs files have more than {TOTAL_LIMIT} bytes"));
        }
        Ok(())
    }

    fn not_used(&mut self, path: &str, why: &str) {
        self.found.findings.push(format!("{}: not used, because {why}", path.escape_debug()));
    }
}

fn text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_LIMIT).read_to_end(&mut bytes));
    read.map_err(|error| format!("it cannot be read ({error})"))?;
    String::from_utf8(bytes)
        .map_err(|error| format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))
}

/// Returns whether the path is a folder, and not a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn is_week(name: &str) -> bool {
    name.strip_prefix("week").is_some_and(|number| number.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn found_with(files: &[(&str, &str)]) -> Found {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(path, text)| write(folder.path(), path, text));
        Found::of(folder.path())
    }

    fn paths(found: &Found) -> Vec<&str> {
        found.files.keys().map(String::as_str).collect()
    }

    #[test]
    fn reads_each_form() {
        let check = |files: &[(&str, &str)], form: &str, expected: &[&str]| {
            let found = found_with(files);
            assert_eq!((found.form.as_str(), paths(&found)), (form, expected.to_vec()));
            assert_eq!((found.findings.len(), found.refused), (0, None));
        };
        let clone = [("src/week1/a.rs", ""), ("src/week2/b/c.rs", ""), ("src/lib.rs", "")];
        check(&clone, CLONE, &["week1/a.rs", "week2/b/c.rs"]);
        let weeks = [("week1/a.rs", ""), ("week1/a.txt", ""), ("a.rs", "")];
        check(&weeks, WEEKS, &["week1/a.rs"]);
        check(&[("a.rs", ""), ("deeper/b.rs", "")], LOOSE, &["a.rs"]);
        let none = found_with(&[("README.md", "")]).refused.unwrap();
        assert!(none.ends_with("expected one of the three"), "{none}");
        let absent = Found::of(Path::new("/does/not/exist")).refused.unwrap();
        assert!(absent.starts_with("the folder cannot be read"), "{absent}");
    }

    #[test]
    fn reports_bad_files_and_reads_the_others() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "week1/b.rs", "mine");
        fs::write(folder.path().join("week1/a.rs"), [b'a', 0xff]).unwrap();
        fs::write(folder.path().join("week1/c.rs"), vec![b' '; FILE_LIMIT as usize + 1]).unwrap();
        write(folder.path(), "week1/1/2/3/4/5/d.rs", "deep");
        let found = Found::of(folder.path());
        assert_eq!(paths(&found), ["week1/b.rs"]);
        assert_eq!(
            found.findings,
            [
                "week1/1/2/3/4/5: not used, because it is nested deeper than 4 folders",
                "week1/a.rs: not used, because byte 1 is not UTF-8",
                "week1/c.rs: not used, because it has 1048577 bytes; at most 1048576 are read",
            ]
        );
    }

    #[test]
    fn rejects_folders_above_the_limits() {
        let all = |count: usize, text: &str| {
            let files: Vec<(String, &str)> =
                (0..count).map(|n| (format!("week1/f{n}.rs"), text)).collect();
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            found_with(&files).refused.unwrap()
        };
        assert_eq!(all(FILES + 1, ""), "the folder has more than 200 .rs files");
        let megabyte = " ".repeat(1 << 20);
        assert_eq!(all(5, &megabyte), "the .rs files have more than 4194304 bytes");
        let folder = tempfile::tempdir().unwrap();
        for n in 0..=ENTRIES {
            fs::create_dir_all(folder.path().join(format!("week1/f{n}"))).unwrap();
        }
        assert_eq!(
            Found::of(folder.path()).refused.unwrap(),
            "the folder has more than 2000 files and folders"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "week1/b.rs", "mine");
        symlink("b.rs", folder.path().join("week1/c.rs")).unwrap();
        // 60 links to their own folder would lead to 60⁵ paths.
        (0..60).for_each(|n| symlink(".", folder.path().join(format!("week1/l{n}"))).unwrap());
        // Opening this pipe would block forever.
        let pipe = folder.path().join("week1/p.rs");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let found = Found::of(folder.path());
        assert_eq!((paths(&found), found.findings.len()), (vec!["week1/b.rs"], 62));
        symlink(folder.path().join("week1"), folder.path().join("week2")).unwrap();
        assert_eq!(paths(&Found::of(folder.path())), ["week1/b.rs"]);
    }
}

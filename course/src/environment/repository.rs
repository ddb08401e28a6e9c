//! Checks the repository and what has been built in it.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};

use super::part::{Part, size};
use crate::{curriculum::Curriculum, explain::counted, process, record, stubs};

/// The files of the embedded models, and the texts for the course's measurements.
const MODELS: [&str; 8] = [
    "models/tiny-story/config.json",
    "models/tiny-story/generation_config.json",
    "models/tiny-story/tokenizer.json",
    "models/tiny-story/tokenizer_config.json",
    "models/tiny-story/model.safetensors",
    "models/tiny-story-draft/model.safetensors",
    "models/eval/questions.jsonl",
    "models/eval/stories.jsonl",
];

/// Checks that the embedded models are complete.
pub(super) fn models(root: &Path) -> Part {
    let check = || -> Result<u64> {
        let mut total = 0;
        for path in MODELS {
            let length = fs::metadata(root.join(path))
                .with_context(|| format!("{path} cannot be read"))?
                .len();
            if path.ends_with(".safetensors") {
                let expected =
                    safetensors_length(&root.join(path)).with_context(|| path.to_owned())?;
                ensure!(length == expected, "{path} has {length} bytes, expected {expected}");
            }
            total += length;
        }
        Ok(total)
    };
    let found = check().map(|total| format!("complete, {}", size(total)));
    Part::required(
        "models",
        found.map_err(|error| format!("{error:#}: `git checkout -- models` restores it")),
    )
}

/// Returns the length that the file should have according to its header.
fn safetensors_length(path: &Path) -> Result<u64> {
    use std::io::Read;
    let mut file = fs::File::open(path)?;
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    ensure!(length < 1 << 24, "no safetensors header");
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header)?;
    let header: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&header).context("no safetensors header")?;
    let ends = header.values().filter_map(|tensor| tensor.get("data_offsets")?.get(1)?.as_u64());
    Ok(8 + length + ends.max().unwrap_or(0))
}

/// Checks whether the book builder is built and, if not, whether its libraries are downloaded.
pub(super) fn book_builder(root: &Path) -> Part {
    let program = process::target(root)
        .join("release")
        .join(format!("book-builder{}", std::env::consts::EXE_SUFFIX));
    let found = if program.is_file() {
        Ok("built".to_owned())
    } else {
        Err(if process::tree(root, "--locked --package book-builder").is_some() {
            "not built yet"
        } else {
            "not built yet, and its libraries are not downloaded"
        }
        .to_owned())
    };
    Part::optional("book builder", found, "`cargo course book` builds it the first time")
}

/// Checks whether `src/` still matches `reference/`, except for files with a learner's work.
pub(super) fn stubs(root: &Path, curriculum: &Curriculum) -> Part {
    let files = match stubs::generated(root, curriculum) {
        Ok(files) => files,
        Err(error) => {
            return Part::required("src/", Err(format!("reference/ cannot be read: {error:#}")));
        }
    };
    let missing: Vec<_> =
        files.iter().filter(|file| file.current.is_none()).map(|file| file.path.as_str()).collect();
    if !missing.is_empty() {
        return Part::required(
            "src/",
            Err(format!(
                "{} missing: `cargo course stubs` restores missing files",
                missing.join(", ")
            )),
        );
    }
    let (equal, others): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.current.as_ref() == Some(&file.stub));
    let (yours, drifted): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|file| !file.work().is_empty());
    let found = if drifted.is_empty() {
        Ok(format!(
            "matches reference/: {} files as generated, {} with your work",
            equal.len(),
            yours.len()
        ))
    } else {
        let drifted: Vec<_> = drifted.iter().map(|file| file.path.as_str()).collect();
        Err(format!("differs from reference/ outside the tasks: {}", drifted.join(", ")))
    };
    Part::optional(
        "src/",
        found,
        "`cargo course stubs --check` shows where; `cargo course stubs` rewrites these files and \
         keeps the old ones",
    )
}

/// Checks the record of results and the kept folders in `.course/`.
pub(super) fn state(root: &Path) -> Part {
    let recovery = root.join(".course/recovery");
    let kept = match fs::read_dir(&recovery).map_or(0, Iterator::count) {
        0 => "no folder kept in .course/recovery".to_owned(),
        1 => format!("1 folder kept in .course/recovery, {}", size(folder_size(&recovery))),
        n => format!("{n} folders kept in .course/recovery, {}", size(folder_size(&recovery))),
    };
    let found = record::inspect(root)
        .map(|tasks| format!("results of {} recorded; {kept}", counted(tasks, "task")))
        .map_err(|error| format!("{error:#}: the next run starts a new record of results"));
    Part::optional(".course/", found, "your code isn't stored in .course/")
}

fn folder_size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => folder_size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

/// Checks whether another cargo has locked the build folder, so that a build would have to wait.
/// Only Linux lists file locks.
pub(super) fn other_cargo(root: &Path) -> Part {
    let found = match lock_holder(root) {
        Some(holder) => Err(format!(
            "{holder} is building here; other builds wait for it (if it hangs, end that process)"
        )),
        None if cfg!(target_os = "linux") => Ok("free: no other cargo is building here".to_owned()),
        None => Ok("not checked on this system".to_owned()),
    };
    Part::optional("build folder", found, "this may be an editor's background check")
}

#[cfg(target_os = "linux")]
fn lock_holder(root: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let files = ["debug", "release"]
        .map(|profile| fs::metadata(root.join("target").join(profile).join(".cargo-lock")).ok());
    let files: Vec<u64> = files.into_iter().flatten().map(|data| data.ino()).collect();
    locks.lines().find_map(|line| {
        // Example: `1: FLOCK ADVISORY WRITE 9611 fe:00:5816357 0 EOF`. If the process is waiting,
        // the second field is `->`.
        let fields: Vec<&str> = line.split_whitespace().filter(|field| *field != "->").collect();
        let file: u64 = fields.get(5)?.rsplit(':').next()?.parse().ok()?;
        let process = *fields.get(4)?;
        // Compare only the inode, because some file systems report a different device here than for
        // the file.
        (files.contains(&file) && fields[3] == "WRITE").then(|| {
            let name = fs::read_to_string(format!("/proc/{process}/comm"))
                .unwrap_or_else(|_| "a program".to_owned());
            format!("{} (process {process})", name.trim())
        })
    })
}

#[cfg(not(target_os = "linux"))]
fn lock_holder(_: &Path) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curriculum, repository, write};

    #[test]
    fn rejects_a_truncated_or_missing_model() {
        let folder = tempfile::tempdir().unwrap();
        for path in MODELS {
            let header = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
            let length = String::from_utf8((header.len() as u64).to_le_bytes().to_vec()).unwrap();
            write(folder.path(), path, &format!("{length}{header}four"));
        }
        assert!(models(folder.path()).found.is_ok(), "{:?}", models(folder.path()));
        let path = folder.path().join("models/tiny-story/model.safetensors");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let lack = models(folder.path()).found.unwrap_err();
        assert!(
            lack.contains("tiny-story/model.safetensors has 65 bytes, expected 66: `git checkout"),
            "{lack}"
        );
        fs::write(&path, "version https://git-lfs.github.com/spec/v1").unwrap();
        assert!(models(folder.path()).found.unwrap_err().contains("no safetensors header"));
        fs::remove_file(&path).unwrap();
        assert!(models(folder.path()).is_missing());
    }

    #[test]
    fn distinguishes_drift_from_missing_files() {
        let repository = repository();
        let root = repository.path();
        let part = || stubs(root, &curriculum());
        assert!(part().is_missing(), "{:?}", part());
        crate::stubs::write(root, &curriculum(), false).unwrap();
        assert_eq!(
            part().found.unwrap(),
            "matches reference/: 3 files as generated, 0 with your work"
        );
        write(root, "src/week1/mod.rs", "pub mod a;\n");
        assert!(!part().is_missing() && part().found.unwrap_err().contains("src/week1/mod.rs"));
    }

    #[test]
    fn state_check_modifies_nothing() {
        let repository = repository();
        let root = repository.path();
        assert_eq!(
            state(root).found.unwrap(),
            "results of 0 tasks recorded; no folder kept in .course/recovery"
        );
        write(root, ".course/recovery/2025-03-09T07-05-00Z/src/a.rs", "abc");
        assert_eq!(
            state(root).found.unwrap(),
            "results of 0 tasks recorded; 1 folder kept in .course/recovery, 3 bytes"
        );
        write(root, record::PATH, "{");
        assert!(state(root).found.unwrap_err().contains("progress.json"));
        assert_eq!(fs::read_to_string(root.join(record::PATH)).unwrap(), "{");
    }
}

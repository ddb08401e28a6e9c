//! `.course/progress.json`: what the last runs found, and how many hints were seen.
//!
//! ```json
//! {
//!   "format": 1,
//!   "tasks": {
//!     "week1-day1 task 1": {
//!       "run": {
//!         "verdict": "failed",
//!         "at": "2026-03-09T07:05:00Z",
//!         "milliseconds": 812,
//!         "first_failing": "task_1_softmax_normalises_each_row",
//!         "fingerprint": "fnv1a64:85944171f73967e8"
//!       },
//!       "hints": 1
//!     }
//!   }
//! }
//! ```
//!
//! It is a memory, never evidence: a run whose fingerprint is not that of the present files counts
//! as not verified, and a file that cannot be read counts as empty.

use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::{
    curriculum::TaskId,
    files::{Recovery, write_atomically},
    judge::Verdict,
};

/// Where it stands, relative to the repository.
pub(crate) const PATH: &str = ".course/progress.json";

/// How many hints a task has.
pub(crate) const HINTS: u8 = 3;

const FORMAT: u32 = 1;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    format: u32,
    /// By `week1-day1 task 1`.
    tasks: BTreeMap<String, Entry>,
}

/// One task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The last run of its tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<Run>,
    /// How many of its hints were seen, 0 to [`HINTS`].
    #[serde(default)]
    pub(crate) hints: u8,
}

/// One run of a task's tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) verdict: Verdict,
    /// When it ended, in UTC, as RFC 3339 has it.
    pub(crate) at: String,
    /// Build and tests together.
    pub(crate) milliseconds: u64,
    /// In the order of the test file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_failing: Option<String>,
    /// Of the code that ran, as [`crate::fingerprint`] makes it.
    pub(crate) fingerprint: String,
}

impl Run {
    /// A run that ends now.
    pub(crate) fn now(
        verdict: Verdict,
        duration: Duration,
        first_failing: Option<String>,
        fingerprint: String,
    ) -> Self {
        let at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self { verdict, at, milliseconds, first_failing, fingerprint }
    }

    /// How long ago it ended: `2 min ago`.
    pub(crate) fn ago(&self, now: SystemTime) -> String {
        let passed = humantime::parse_rfc3339(&self.at)
            .ok()
            .and_then(|at| now.duration_since(at).ok())
            .unwrap_or_default()
            .as_secs();
        match passed {
            0..5 => "just now".to_owned(),
            5..60 => format!("{passed} s ago"),
            60..3_600 => format!("{} min ago", passed / 60),
            3_600..172_800 => format!("{} h ago", passed / 3_600),
            _ => format!("{} days ago", passed / 86_400),
        }
    }
}

/// How many tasks the record knows. Unlike [`Record::load`] it leaves a file that cannot be read
/// where it is.
///
/// # Errors
/// If the file is there and cannot be read.
pub(crate) fn inspect(root: &Path) -> Result<usize> {
    let read = match fs::read_to_string(root.join(PATH)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        read => read.map_err(anyhow::Error::from),
    };
    let record = read
        .and_then(|text| Record::parse(&text))
        .with_context(|| format!("{PATH} cannot be read"))?;
    Ok(record.tasks.len())
}

impl Default for Record {
    fn default() -> Self {
        Self { format: FORMAT, tasks: BTreeMap::new() }
    }
}

impl Record {
    /// The record of this repository. One that cannot be read is moved into `.course/recovery` with
    /// a note on standard error, and counts as empty.
    pub(crate) fn load(root: &Path) -> Self {
        let read = match fs::read_to_string(root.join(PATH)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::default(),
            read => read.map_err(anyhow::Error::from),
        };
        read.and_then(|text| Self::parse(&text)).unwrap_or_else(|error| {
            let recovery = Recovery::new(root);
            let kept = match recovery.take(PATH) {
                Ok(()) => format!("it is kept in {}", recovery.folder.display()),
                Err(error) => format!("{error:#}"),
            };
            eprintln!("note: {PATH} cannot be read and counts as empty ({error:#}); {kept}");
            Self::default()
        })
    }

    fn parse(text: &str) -> Result<Self> {
        let record: Self = serde_json::from_str(text)?;
        ensure!(record.format == FORMAT, "found format {}, expected {FORMAT}", record.format);
        for (task, entry) in &record.tasks {
            ensure!(
                entry.hints <= HINTS,
                "{task}: found {} hints, expected at most {HINTS}",
                entry.hints
            );
            if let Some(run) = &entry.run {
                humantime::parse_rfc3339(&run.at).with_context(|| {
                    format!("{task}: found at {:?}, expected a time in UTC", run.at)
                })?;
            }
        }
        Ok(record)
    }

    /// What is known of a task.
    pub(crate) fn entry(&self, id: &TaskId) -> Entry {
        self.tasks.get(&id.to_string()).cloned().unwrap_or_default()
    }

    /// Changes what stands in the file now, which another command may have written meanwhile. That
    /// it cannot be written is a note on standard error: a verdict counts without being remembered.
    pub(crate) fn update(root: &Path, change: impl FnOnce(&mut Self)) {
        let mut record = Self::load(root);
        let before = record.clone();
        change(&mut record);
        if record != before
            && let Err(error) = record.save(root)
        {
            eprintln!("note: {error:#}");
        }
    }

    /// Replaces a task's last run.
    pub(crate) fn ran(&mut self, id: &TaskId, run: Run) {
        self.tasks.entry(id.to_string()).or_default().run = Some(run);
    }

    /// Notes that hints up to `level` were seen.
    pub(crate) fn saw_hint(&mut self, id: &TaskId, level: u8) {
        let entry = self.tasks.entry(id.to_string()).or_default();
        entry.hints = entry.hints.max(level.min(HINTS));
    }

    fn save(&self, root: &Path) -> Result<()> {
        let text =
            serde_json::to_string_pretty(self).context("the record cannot be written as JSON")?;
        write_atomically(&root.join(PATH), &(text + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write;

    fn id() -> TaskId {
        TaskId { feature: "week1-day1".into(), task: 1 }
    }

    fn run(at: &str) -> Run {
        Run {
            verdict: Verdict::DoesNotCompile,
            at: at.into(),
            milliseconds: 812,
            first_failing: Some("task_1_a".into()),
            fingerprint: "f".into(),
        }
    }

    fn kept(root: &Path) -> Vec<String> {
        let Ok(folders) = fs::read_dir(root.join(".course/recovery")) else { return Vec::new() };
        folders
            .map(|folder| {
                String::from_utf8_lossy(&fs::read(folder.unwrap().path().join(PATH)).unwrap())
                    .into_owned()
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let root = tempfile::tempdir().unwrap();
        Record::update(root.path(), |record| record.ran(&id(), run("2026-03-09T07:05:00Z")));
        Record::update(root.path(), |record| record.saw_hint(&id(), 2));
        Record::update(root.path(), |record| record.saw_hint(&id(), 1));
        let entry = Record::load(root.path()).entry(&id());
        assert_eq!(entry, Entry { run: Some(run("2026-03-09T07:05:00Z")), hints: 2 });
        let text = fs::read_to_string(root.path().join(PATH)).unwrap();
        assert!(
            text.contains("\n      \"run\": {\n        \"verdict\": \"does-not-compile\",\n"),
            "{text}"
        );
        assert_eq!(kept(root.path()), [""; 0]);
    }

    #[test]
    fn a_bad_file_counts_as_empty_and_is_kept() {
        let good = serde_json::to_string_pretty(&{
            let mut record = Record::default();
            record.ran(&id(), run("2026-03-09T07:05:00Z"));
            record
        })
        .unwrap();
        for bad in [
            String::new(),
            "null".into(),
            "[]".into(),
            good[..good.len() / 2].to_owned(),
            good.replace("does-not-compile", "green"),
            good.replace("2026-03-09T07:05:00Z", "yesterday"),
            good.replace("\"hints\": 0", "\"hints\": 4"),
            good.replace("\"format\": 1", "\"format\": 2"),
        ] {
            assert_ne!(bad, good);
            let root = tempfile::tempdir().unwrap();
            write(root.path(), PATH, &bad);
            assert_eq!(Record::load(root.path()), Record::default(), "{bad}");
            assert_eq!(kept(root.path()), [bad]);
            assert!(!root.path().join(PATH).exists(), "the next command has nothing to say");
        }
        let root = tempfile::tempdir().unwrap();
        write(root.path(), PATH, "");
        fs::write(root.path().join(PATH), b"\xff\x00{").unwrap();
        assert_eq!(Record::load(root.path()), Record::default(), "not UTF-8");
        fs::create_dir(root.path().join(PATH)).unwrap();
        assert_eq!(Record::load(root.path()), Record::default(), "a folder");
    }

    #[test]
    fn times_are_told_in_words() {
        let at = humantime::parse_rfc3339("2026-03-09T07:05:00Z").unwrap();
        for (seconds, words) in [
            (0, "just now"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (7_200, "2 h ago"),
            (172_799, "47 h ago"),
            (259_200, "3 days ago"),
        ] {
            assert_eq!(run("2026-03-09T07:05:00Z").ago(at + Duration::from_secs(seconds)), words);
        }
        assert_eq!(
            run("2026-03-09T07:05:00Z").ago(SystemTime::UNIX_EPOCH),
            "just now",
            "a clock that was set back"
        );
    }
}

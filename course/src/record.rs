//! `.course/progress.json`: the result of each task's last run, and the number of hints seen.
//!
//! ```json
//! {
//!   "format": 1,
//!   "tasks": {
//!     "week1-day1 task 1": {
//!       "hints": 1,
//!       "run": {
//!         "at": "2026-03-09T07:05:00Z",
//!         "fingerprint": "fnv1a64:85944171f73967e8",
//!         "first_failing": "task_1_softmax_normalises_each_row",
//!         "milliseconds": 812,
//!         "verdict": "failed"
//!       }
//!     }
//!   }
//! }
//! ```
//!
//! The record proves nothing by itself: if a run's fingerprint differs from that of the present
//! files, the task counts as not verified. An unreadable file counts as empty.

use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{
    curriculum::TaskId,
    files::{Recovery, write_atomically},
    json,
    test_run::Verdict,
};

/// Path of the record, relative to the repository.
pub(crate) const PATH: &str = ".course/progress.json";

/// Number of hints per task.
pub(crate) const HINTS: u8 = 3;

const FORMAT: u64 = 1;

/// The contents of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Entries by task, such as `week1-day1 task 1`.
    tasks: BTreeMap<String, Entry>,
}

/// The entry of one task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The last run of its tests.
    pub(crate) run: Option<Run>,
    /// Number of hints seen, 0 to [`HINTS`].
    pub(crate) hints: u8,
}

/// One run of a task's tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) verdict: Verdict,
    /// Time at which the run ended: UTC, in the format of RFC 3339.
    pub(crate) at: String,
    /// Duration of build and tests together, in milliseconds.
    pub(crate) milliseconds: u64,
    /// The failing test that is shown first: one with a diagnosis, if there is one.
    pub(crate) first_failing: Option<String>,
    /// Fingerprint of the code that ran, see [`crate::fingerprint`].
    pub(crate) fingerprint: String,
}

impl Run {
    /// Creates a run that ends now.
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

    fn parse(run: &Value) -> Result<Self> {
        let verdict = json::text(run, "verdict")?;
        let at = json::text(run, "at")?;
        humantime::parse_rfc3339(at)
            .with_context(|| format!("field \"at\": found {at:?}, expected a time in UTC"))?;
        Ok(Self {
            verdict: Verdict::named(verdict).with_context(|| {
                format!(
                    "field \"verdict\": found {verdict:?}, expected \"passed\", \"failed\" or \
                     \"does-not-compile\""
                )
            })?,
            at: at.to_owned(),
            milliseconds: json::number(run, "milliseconds")?,
            first_failing: json::optional_text(run, "first_failing")?.map(str::to_owned),
            fingerprint: json::text(run, "fingerprint")?.to_owned(),
        })
    }

    fn json(&self) -> Value {
        json!({
            "verdict": self.verdict.name(),
            "at": self.at,
            "milliseconds": self.milliseconds,
            "first_failing": self.first_failing,
            "fingerprint": self.fingerprint,
        })
    }

    /// Formats the time since the run ended: `2 min ago`.
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

impl Entry {
    fn parse(entry: &Value) -> Result<Self> {
        let hints = if entry["hints"].is_null() { 0 } else { json::number(entry, "hints")? };
        let seen = u8::try_from(hints).ok().filter(|seen| *seen <= HINTS);
        let hints =
            seen.with_context(|| format!("found {hints} hints, expected at most {HINTS}"))?;
        let run = match &entry["run"] {
            Value::Null => None,
            run => Some(Run::parse(run)?),
        };
        Ok(Self { run, hints })
    }

    fn json(&self) -> Value {
        json!({ "run": self.run.as_ref().map(Run::json), "hints": self.hints })
    }
}

/// Returns the number of tasks in the record. Unlike [`Record::load`], doesn't move an unreadable
/// file.
///
/// # Errors
/// If the file exists but cannot be read.
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

impl Record {
    /// Reads the record of this repository. Moves an unreadable record to `.course/recovery`,
    /// prints a note to standard error, and returns an empty record.
    pub(crate) fn load(root: &Path) -> Self {
        let read = match fs::read_to_string(root.join(PATH)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::default(),
            read => read.map_err(anyhow::Error::from),
        };
        read.and_then(|text| Self::parse(&text)).unwrap_or_else(|error| {
            let kept = match Recovery::new(root).take(PATH) {
                Ok(folder) => format!("the old file is kept in {}", folder.display()),
                Err(error) => format!("{error:#}"),
            };
            eprintln!("note: {PATH} cannot be read, so it is treated as empty ({error:#}); {kept}");
            Self::default()
        })
    }

    fn parse(text: &str) -> Result<Self> {
        let file: Value = serde_json::from_str(text)?;
        let format = json::number(&file, "format")?;
        ensure!(format == FORMAT, "found format {format}, expected {FORMAT}");
        let mut tasks = BTreeMap::new();
        for (task, entry) in json::fields(&file["tasks"])? {
            let entry = Entry::parse(entry).with_context(|| task.clone())?;
            tasks.insert(task.clone(), entry);
        }
        Ok(Self { tasks })
    }

    /// Returns the entry of a task.
    pub(crate) fn entry(&self, id: &TaskId) -> Entry {
        self.tasks.get(&id.to_string()).cloned().unwrap_or_default()
    }

    /// Applies `change` to the record in the file. Reads the file first, because another command
    /// may have written it in the meantime. If the file cannot be written, prints a note to
    /// standard error and continues: a verdict counts even if it isn't recorded.
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

    /// Records that hints up to `level` were seen.
    pub(crate) fn saw_hint(&mut self, id: &TaskId, level: u8) {
        let entry = self.tasks.entry(id.to_string()).or_default();
        entry.hints = entry.hints.max(level.min(HINTS));
    }

    fn save(&self, root: &Path) -> Result<()> {
        let tasks: Value =
            self.tasks.iter().map(|(task, entry)| (task.clone(), entry.json())).collect();
        let file = json!({ "format": FORMAT, "tasks": tasks });
        write_atomically(&root.join(PATH), format!("{file:#}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{kept, write};

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

    #[test]
    fn reads_back_what_it_wrote() {
        let root = tempfile::tempdir().unwrap();
        Record::update(root.path(), |record| record.ran(&id(), run("2026-03-09T07:05:00Z")));
        Record::update(root.path(), |record| record.saw_hint(&id(), 2));
        Record::update(root.path(), |record| record.saw_hint(&id(), 1));
        let entry = Record::load(root.path()).entry(&id());
        assert_eq!(entry, Entry { run: Some(run("2026-03-09T07:05:00Z")), hints: 2 });
        let text = fs::read_to_string(root.path().join(PATH)).unwrap();
        assert!(
            text.contains("\n      \"run\": {\n        \"at\": \"2026-03-09T07:05:00Z\",\n"),
            "{text}"
        );
        assert_eq!(kept(root.path(), PATH), [""; 0]);
    }

    #[test]
    fn a_bad_file_counts_as_empty_and_is_kept() {
        let good = {
            let root = tempfile::tempdir().unwrap();
            Record::update(root.path(), |record| record.ran(&id(), run("2026-03-09T07:05:00Z")));
            fs::read_to_string(root.path().join(PATH)).unwrap()
        };
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
            assert_eq!(kept(root.path(), PATH), [bad]);
            assert!(!root.path().join(PATH).exists(), "the next command prints no note");
        }
        let root = tempfile::tempdir().unwrap();
        write(root.path(), PATH, "");
        fs::write(root.path().join(PATH), b"\xff\x00{").unwrap();
        assert_eq!(Record::load(root.path()), Record::default(), "not UTF-8");
        fs::create_dir(root.path().join(PATH)).unwrap();
        assert_eq!(Record::load(root.path()), Record::default(), "a folder");
    }

    #[test]
    fn formats_the_time_since_a_run() {
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

//! What a transaction will do, as it is written down before it is done.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::json::{self, Json};

/// A runner of another generation does not guess.
const FORMAT: u64 = 1;

/// The files of a transaction.
#[derive(Debug)]
pub(super) struct Journal {
    /// `stubs --force`, for the line that a recovery prints.
    pub(super) command: String,
    /// Where the copies go, relative to the repository.
    pub(super) recovery: PathBuf,
    pub(super) entries: Vec<Entry>,
}

/// A file, with the hashes of what is replaced and of what replaces it; `None` where there is no
/// file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
}

impl Journal {
    /// As JSON.
    pub(super) fn text(&self) -> String {
        let entry = |entry: &Entry| {
            Json::object([
                ("path", Json::text(&entry.path)),
                ("old", Json::optional(entry.old.as_deref())),
                ("new", Json::optional(entry.new.as_deref())),
            ])
        };
        Json::object([
            ("format", Json::Number(FORMAT)),
            ("command", Json::text(&self.command)),
            ("recovery", Json::text(self.recovery.to_string_lossy())),
            ("entries", Json::List(self.entries.iter().map(entry).collect())),
        ])
        .to_string()
    }

    /// The opposite of [`Journal::text`].
    ///
    /// # Errors
    /// If it is of another generation, or not as this module writes it, or names a place outside
    /// the repository.
    pub(super) fn parse(text: &[u8]) -> Result<Self> {
        let file: Value = serde_json::from_slice(text)?;
        let format = json::number(&file, "format")?;
        ensure!(
            format == FORMAT,
            "format {format} found, {FORMAT} expected; run `target/course/course`, which is the \
             runner that wrote it"
        );
        let entry = |(n, entry): (usize, &Value)| {
            let read = || -> Result<Entry> {
                Ok(Entry {
                    path: inside(json::text(entry, "path")?)?.to_owned(),
                    old: json::optional_text(entry, "old")?.map(str::to_owned),
                    new: json::optional_text(entry, "new")?.map(str::to_owned),
                })
            };
            read().with_context(|| format!("entry {n}"))
        };
        Ok(Self {
            command: json::text(&file, "command")?.to_owned(),
            recovery: inside(json::text(&file, "recovery")?)?.into(),
            entries: json::list(&file, "entries")?
                .iter()
                .enumerate()
                .map(entry)
                .collect::<Result<_>>()?,
        })
    }
}

/// A path that stays in the repository: a file could otherwise be written anywhere.
fn inside(path: &str) -> Result<&str> {
    let mut parts = Path::new(path).components().peekable();
    let normal = parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)));
    ensure!(normal, "found the path {path:?}, expected one inside the repository");
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let entry = |path: &str, old: Option<&str>| Entry {
            path: path.into(),
            old: old.map(str::to_owned),
            new: Some("b".into()),
        };
        let journal = Journal {
            command: "update".into(),
            recovery: ".course/recovery/now".into(),
            entries: vec![entry("src/a \"b\".rs", Some("a")), entry("c", None)],
        };
        let read = Journal::parse(journal.text().as_bytes()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{journal:?}"));
    }
}

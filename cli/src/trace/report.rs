//! The results of the comparison for `cargo course trace`, one JSON object per line. Each line is
//! written immediately, so a crash does not lose earlier ones.
//!
//! ```text
//! {"loaded": true}
//! {"agrees": "embedding", "deviation": 0.0}
//! {"differs": "norm", "words": "norm, position 0, …", "tasks": ["week1-day4 task 1: RmsNorm::forward"]}
//! {"panic": "this needs week1-day4 …", "during": "norm", "tasks": […]}
//! {"error": "…"}
//! {"end": true}
//! ```

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Result;
use serde_json::{Value, json};

use super::compare::Event;
use crate::files::cannot_be_written;

type TasksOf = fn(&str) -> &'static [&'static str];

/// An open report file.
pub(super) struct Report {
    path: PathBuf,
    file: File,
}

impl Report {
    /// Creates the report file at `path`. Replaces an existing file.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|e| cannot_be_written(path, &e))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Reports that the model is loaded and accepts the tokens.
    pub(super) fn loaded(&mut self) -> Result<()> {
        self.line(&json!({ "loaded": true }))
    }

    pub(super) fn write(&mut self, event: &Event, tasks_of: TasksOf) -> Result<()> {
        self.line(&match event {
            Event::Agrees { name, deviation } => json!({ "agrees": name, "deviation": deviation }),
            Event::Differs { name, words } => {
                json!({ "differs": name, "words": words, "tasks": tasks_of(name) })
            }
            Event::End => json!({ "end": true }),
        })
    }

    /// Reports an error that the learner's code returned, for example because it rejects the
    /// tokens.
    pub(super) fn error(&mut self, text: &str) -> Result<()> {
        self.line(&json!({ "error": text }))
    }

    /// Reports a panic in the learner's code. `during` is the activation being computed, if known.
    pub(super) fn panic(
        &mut self,
        text: &str,
        during: Option<&str>,
        tasks_of: TasksOf,
    ) -> Result<()> {
        self.line(
            &json!({ "panic": text, "during": during, "tasks": during.map_or(&[][..], tasks_of) }),
        )
    }

    fn line(&mut self, value: &Value) -> Result<()> {
        self.file
            .write_all(format!("{value}\n").as_bytes())
            .map_err(|e| cannot_be_written(&self.path, &e))
    }
}

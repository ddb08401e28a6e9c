//! `--json` and `--schema`: what an answer has to be.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Result, anyhow};
use tiny_llm_formats::text::Tokenizer;
use tiny_llm_schema::Shape;

use super::Form;

/// What an answer has to be.
#[derive(clap::Args)]
pub(super) struct FormOptions {
    /// Answer with a JSON object, whatever the model would say and however few tokens there are
    #[arg(long, help_heading = "Week 3", conflicts_with = "schema")]
    json: bool,
    /// Answer with JSON that fits the JSON Schema in this file
    #[arg(long, value_name = "FILE", help_heading = "Week 3")]
    schema: Option<PathBuf>,
}

impl FormOptions {
    /// The form that is asked for, and by which option.
    ///
    /// # Errors
    /// If the schema cannot be read, or says something that is not supported.
    pub(super) fn form(&self) -> Result<Option<(Form, &'static str)>> {
        let Some(path) = &self.schema else {
            return Ok(self.json.then_some((Form::Json, "--json")));
        };
        let name = path.display();
        let text = std::fs::read(path).map_err(|e| anyhow!("{name}: cannot be read: {e}"))?;
        let shape = Shape::of_text(&text).map_err(|refused| anyhow!("{name}: {refused}"))?;
        Ok(Some((Form::Shape(Arc::new(shape)), "--schema")))
    }
}

/// The bytes of each of a model's tokens, none for one that is no text.
pub(super) fn texts(tokenizer: &Tokenizer, vocabulary: usize) -> Vec<Vec<u8>> {
    (0..vocabulary as u32).map(|token| tokenizer.text_bytes(token)).collect()
}

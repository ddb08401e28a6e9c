//! `--json` and `--schema`: what an answer has to be.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Result, anyhow};
use tiny_llm_formats::text::Tokenizer;

use super::Form;

/// What an answer has to be.
#[derive(clap::Args)]
pub(super) struct FormOptions {
    /// Answer with a JSON object, whatever the model would say
    #[arg(long, help_heading = "Week 3", conflicts_with = "schema")]
    json: bool,
    /// Answer with JSON that fits the JSON Schema in this file
    #[arg(long, value_name = "FILE", help_heading = "Week 3")]
    schema: Option<PathBuf>,
}

impl FormOptions {
    /// The form that is asked for; the file is read.
    pub(super) fn read(&self) -> Result<Option<Form>> {
        if let Some(path) = &self.schema {
            let text = std::fs::read_to_string(path)
                .map_err(|e| anyhow!("{}: cannot be read: {e}", path.display()))?;
            return Ok(Some(Form::Schema(Arc::from(text))));
        }
        Ok(self.json.then_some(Form::Json))
    }
}

/// The bytes of each of a model's tokens, none for one that is no text.
pub(super) fn texts(tokenizer: &Tokenizer, vocabulary: usize) -> Vec<Vec<u8>> {
    (0..vocabulary as u32).map(|token| tokenizer.text_bytes(token)).collect()
}

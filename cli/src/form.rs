//! `--json` and `--schema`: constrained answers.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Result, anyhow};
use tiny_llm_formats::text::Tokenizer;
use tiny_llm_schema::Shape;

use super::Form;

/// The constraint on an answer, if any.
#[derive(clap::Args)]
pub(super) struct FormOptions {
    /// Force the answer to be a complete JSON object, even at the token limit
    #[arg(long, help_heading = "Week 3", conflicts_with = "schema")]
    json: bool,
    /// File with a JSON Schema that the answer must match, even at the token limit
    #[arg(long, value_name = "FILE", help_heading = "Week 3")]
    schema: Option<PathBuf>,
}

impl FormOptions {
    /// Returns the constraint, and the name of the option that sets it.
    ///
    /// # Errors
    /// If the schema cannot be read or uses an unsupported keyword.
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

/// Returns the bytes of each token's text. For a token without text, the bytes are empty.
pub(super) fn texts(tokenizer: &Tokenizer, vocabulary: usize) -> Vec<Vec<u8>> {
    (0..vocabulary as u32).map(|token| tokenizer.text_bytes(token)).collect()
}

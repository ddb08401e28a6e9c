//! `--json`: what an answer has to be.

use tiny_llm_formats::text::Tokenizer;

use super::Form;

/// What an answer has to be.
#[derive(clap::Args)]
pub(super) struct FormOptions {
    /// Answer with a JSON object, whatever the model would say and however few tokens there are
    #[arg(long, help_heading = "Week 3")]
    json: bool,
}

impl FormOptions {
    /// The form that is asked for.
    pub(super) fn form(&self) -> Option<Form> {
        self.json.then_some(Form::Json)
    }
}

/// The bytes of each of a model's tokens, none for one that is no text.
pub(super) fn texts(tokenizer: &Tokenizer, vocabulary: usize) -> Vec<Vec<u8>> {
    (0..vocabulary as u32).map(|token| tokenizer.text_bytes(token)).collect()
}

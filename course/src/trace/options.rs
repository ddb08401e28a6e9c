//! The options of `cargo course trace`: the model and its input.

use std::path::{Path, PathBuf};

/// The default text: long enough for positions to matter, short enough to run quickly.
const PROMPT: &str = "Once upon a time, there was a little fox";

/// The options of `cargo course trace`.
#[derive(Debug)]
pub(crate) struct Options {
    /// Text to run the model on.
    pub(crate) prompt: Option<String>,
    /// Token ids, separated by commas. They replace the text.
    pub(crate) tokens: Option<String>,
    /// Model folder or name. `None` for the embedded model.
    pub(crate) model: Option<PathBuf>,
}

impl Options {
    /// Returns the text, or the default text if there is none.
    pub(super) fn prompt(&self) -> &str {
        self.prompt.as_deref().unwrap_or(PROMPT)
    }

    /// Describes the model and the input, for the first line of the result.
    pub(super) fn subject(&self, root: &Path, model: &Path) -> String {
        let model = model.strip_prefix(root).unwrap_or(model).display();
        match &self.tokens {
            Some(tokens) if tokens.len() > 60 => {
                format!("{model} on {} tokens", tokens.split(',').count())
            }
            Some(tokens) => format!("{model} on the tokens {tokens}"),
            None => format!("{model} on {:?}", self.prompt()),
        }
    }
}

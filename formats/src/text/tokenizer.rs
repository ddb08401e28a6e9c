//! One tokenizer, whichever kind of file it comes from.

#[cfg(feature = "text")]
use std::path::Path;

use anyhow::Result;

use super::gguf::GgufTokenizer;
#[cfg(feature = "text")]
use super::json::JsonTokenizer;
use crate::gguf::Metadata;

/// Turns text into token ids and back.
pub struct Tokenizer {
    source: Source,
}

enum Source {
    #[cfg(feature = "text")]
    Json(Box<JsonTokenizer>),
    Gguf(Box<GgufTokenizer>),
}

impl Tokenizer {
    /// Reads `tokenizer.json`.
    ///
    /// # Errors
    /// If the file is missing or is not a tokenizer.
    #[cfg(feature = "text")]
    pub fn from_folder(folder: &Path) -> Result<Self> {
        let path = folder.join("tokenizer.json");
        let json = std::fs::read_to_string(&path)
            .map_err(|e| anyhow::anyhow!("{}: cannot be read: {e}", path.display()))?;
        Self::from_json(&json, &path.display().to_string())
    }

    /// Reads the text of a `tokenizer.json`; `file` is its name in messages.
    ///
    /// # Errors
    /// If it is not a tokenizer.
    #[cfg(feature = "text")]
    pub fn from_json(json: &str, file: &str) -> Result<Self> {
        Ok(Self { source: Source::Json(Box::new(JsonTokenizer::from_json(json, file)?)) })
    }

    /// The tokenizer of a GGUF file: byte-level (`gpt2`) or SentencePiece (`llama`). It gives the
    /// ids that the Hugging Face tokenizer gives from which such a file is made.
    ///
    /// # Errors
    /// If the metadata holds no tokenizer or one of another kind, or parts of it do not fit
    /// together (fewer scores than tokens, a merge of what is no token).
    pub fn from_gguf(metadata: &Metadata) -> Result<Self> {
        Ok(Self { source: Source::Gguf(Box::new(GgufTokenizer::new(metadata)?)) })
    }

    /// The ids of `text`, and no others. Special tokens that are spelled out in the text
    /// (`<|im_end|>`) become their ids: a chat template's output is encoded with this.
    ///
    /// # Errors
    /// If the text has a part that the vocabulary cannot express.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        match &self.source {
            #[cfg(feature = "text")]
            Source::Json(tokenizer) => tokenizer.encode(text),
            Source::Gguf(tokenizer) => tokenizer.encode(text),
        }
    }

    /// The ids of a text that a model is to continue: as [`Tokenizer::encode`], after the token
    /// that begins a text if this tokenizer adds one (Llama) and the text does not begin with it
    /// already. Nothing is added at the end.
    ///
    /// # Errors
    /// If the text has a part that the vocabulary cannot express.
    pub fn encode_prompt(&self, text: &str) -> Result<Vec<u32>> {
        let prefix = match &self.source {
            #[cfg(feature = "text")]
            Source::Json(tokenizer) => tokenizer.prefix(),
            Source::Gguf(tokenizer) => tokenizer.prefix(),
        };
        let ids = self.encode(text)?;
        Ok(if ids.starts_with(prefix) { ids } else { [prefix, &ids].concat() })
    }

    /// The text of these ids, special tokens included. Bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// If an id is not in the vocabulary, or the tokenizer's decoder fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        match &self.source {
            #[cfg(feature = "text")]
            Source::Json(tokenizer) => tokenizer.decode(ids),
            Source::Gguf(tokenizer) => tokenizer.decode(ids),
        }
    }

    /// The bytes that a token stands for within a text; a character may be spread over several
    /// tokens. None for an id that the tokenizer does not have: the model's vocabulary may be
    /// padded to a round size.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Vec<u8> {
        match &self.source {
            #[cfg(feature = "text")]
            Source::Json(tokenizer) => tokenizer.token_bytes(id),
            Source::Gguf(tokenizer) => tokenizer.token_bytes(id),
        }
    }

    /// The same for a token that is text; none for one that means something else where a text is
    /// written: it ends a text or begins a turn (`<|im_end|>`), or stands for what is unknown.
    #[must_use]
    pub fn text_bytes(&self, id: u32) -> Vec<u8> {
        let is_text = match &self.source {
            #[cfg(feature = "text")]
            Source::Json(tokenizer) => tokenizer.is_text(id),
            Source::Gguf(tokenizer) => tokenizer.is_text(id),
        };
        if is_text { self.token_bytes(id) } else { Vec::new() }
    }

    /// How many tokens there are, the added ones included.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        match &self.source {
            #[cfg(feature = "text")]
            Source::Json(tokenizer) => tokenizer.vocab_size(),
            Source::Gguf(tokenizer) => tokenizer.vocab_size(),
        }
    }
}

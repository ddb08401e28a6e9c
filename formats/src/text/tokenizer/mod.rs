//! The tokenizer. It reads the keys `tokenizer.ggml.*` of a GGUF file, or converts a model folder's
//! `tokenizer.json` to the same keys.
//!
//! There are two kinds of tokenizer model:
//!
//! - Byte-level byte-pair encoding (`gpt2`) cuts a text into words, and an ordered list of merges
//!   makes tokens from a word's bytes.
//! - SentencePiece (`llama`) treats a text as one piece. The score of a merged token decides which
//!   neighbours are merged first.
//!
//! This module does not use the `tokenizers` crate: it would add 60 crates to a learner's build,
//! and its maps take more memory than the KV cache. Tests compare this module with that crate.

mod added;
mod byte_level;
mod merge;
mod o200k;
mod sentence_piece;
mod split;
mod unicode;
mod vocabulary;

use std::path::Path;

use anyhow::{Result, bail};

use self::{
    added::AddedTokens,
    byte_level::ByteLevel,
    merge::Merger,
    sentence_piece::SentencePiece,
    vocabulary::{Kind, Vocabulary},
};
use crate::{
    gguf::{Metadata, convert::tokenizer_keys},
    json::read_text,
};

const MODEL: &str = "tokenizer.ggml.model";
const BOS: &str = "tokenizer.ggml.bos_token_id";
const ADD_BOS: &str = "tokenizer.ggml.add_bos_token";

/// Turns text into token ids and back.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    added: AddedTokens,
    /// The token that is added before every text, if there is one.
    prefix: Option<u32>,
    model: Model,
}

enum Model {
    ByteLevel(Box<ByteLevel>),
    SentencePiece(Box<SentencePiece>),
}

impl Tokenizer {
    /// Reads `tokenizer.json`.
    ///
    /// # Errors
    /// If the file is missing or its tokenizer is unsupported.
    pub fn from_folder(folder: &Path) -> Result<Self> {
        let path = folder.join("tokenizer.json");
        Self::from_json(&read_text(&path)?, &path.display().to_string())
    }

    /// Reads the text of a `tokenizer.json`. `file` is the file's name in error messages.
    ///
    /// # Errors
    /// If the text is not JSON, or the tokenizer is unsupported.
    pub fn from_json(json: &str, file: &str) -> Result<Self> {
        Self::from_gguf(&tokenizer_keys(json, file)?)
    }

    /// Returns the tokenizer of a GGUF file: byte-level (`gpt2`) or SentencePiece (`llama`). It
    /// produces the same ids as the Hugging Face tokenizer from which the file was converted.
    ///
    /// # Errors
    /// If the metadata has no tokenizer or an unsupported one. Also if parts of it do not match
    /// each other (fewer scores than tokens, for example, or a merge of two texts that are not
    /// tokens).
    pub fn from_gguf(metadata: &Metadata) -> Result<Self> {
        let name = metadata.required(MODEL, metadata.text(MODEL))?;
        let (vocabulary, model, bos, add_bos) = match name {
            "gpt2" => {
                let (vocabulary, model) = ByteLevel::new(metadata)?;
                let add_bos = model.adds_bos;
                (vocabulary, Model::ByteLevel(Box::new(model)), None, add_bos)
            }
            "llama" => {
                let (vocabulary, model) = SentencePiece::new(metadata)?;
                (vocabulary, Model::SentencePiece(Box::new(model)), Some(1), true)
            }
            _ => {
                return Err(
                    metadata.wrong(MODEL, "\"gpt2\" (byte-level) or \"llama\" (SentencePiece)")
                );
            }
        };
        let bos =
            vocabulary.id_in(metadata, BOS)?.or(bos.filter(|id| (*id as usize) < vocabulary.len()));
        let prefix = if metadata.flag(ADD_BOS)?.unwrap_or(add_bos) { bos } else { None };
        let added = AddedTokens::new(&vocabulary);
        Ok(Self { vocabulary, added, prefix, model })
    }

    /// Returns the ids of `text`, and adds no other tokens. Special tokens that are spelled out in
    /// the text (`<|im_end|>`) become their ids, so use this for a chat template's output.
    ///
    /// # Errors
    /// If the text is 4 GiB or longer, and the tokenizer is SentencePiece's.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let (mut ids, mut merger) = (Vec::new(), Merger::default());
        let mut stretch = |at: usize, text: &str, ids: &mut Vec<u32>| match &self.model {
            Model::ByteLevel(model) => {
                model.encode(&self.vocabulary, text, &mut merger, ids);
                Ok(())
            }
            Model::SentencePiece(model) => {
                model.encode(&self.vocabulary, text, at == 0, &mut merger, ids)
            }
        };
        let mut done = 0;
        while let Some((at, id)) = self.added.first(&self.vocabulary, text, done) {
            stretch(done, &text[done..at], &mut ids)?;
            ids.push(id);
            done = at + self.vocabulary.bytes_of(id).len();
        }
        stretch(done, &text[done..], &mut ids)?;
        Ok(ids)
    }

    /// Returns the ids of a text that a model continues. These are the ids of
    /// [`Tokenizer::encode`]. If this tokenizer adds a token before every text (Llama), that token
    /// comes first, unless the text already begins with it. Nothing is added at the end.
    ///
    /// # Errors
    /// If the text is 4 GiB or longer, and the tokenizer is SentencePiece's.
    pub fn encode_prompt(&self, text: &str) -> Result<Vec<u32>> {
        let prefix = self.prefix.as_slice();
        let ids = self.encode(text)?;
        Ok(if ids.starts_with(prefix) { ids } else { [prefix, &ids].concat() })
    }

    /// Returns the text of these ids, including special tokens. Bytes that are not UTF-8 become
    /// U+FFFD.
    ///
    /// # Errors
    /// If an id is not in the vocabulary.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        if let Some(id) = ids.iter().find(|id| !self.has(**id)) {
            bail!(
                "token {id} is not in the tokenizer's vocabulary of {} tokens",
                self.vocab_size()
            );
        }
        Ok(match &self.model {
            Model::ByteLevel(_) => {
                let bytes: Vec<u8> =
                    ids.iter().flat_map(|id| self.vocabulary.bytes_of(*id)).copied().collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Model::SentencePiece(model) => model.decode(&self.vocabulary, ids),
        })
    }

    /// Returns the bytes that a token represents in a text. A character may be spread over several
    /// tokens. Returns no bytes for an id that the tokenizer does not have, because the model's
    /// vocabulary may be padded to a round size.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Vec<u8> {
        if self.has(id) { self.vocabulary.bytes_of(id).to_vec() } else { Vec::new() }
    }

    /// Like [`Tokenizer::token_bytes`], but returns no bytes for a token that is not text: a
    /// control token such as `<|im_end|>`, or the unknown token.
    #[must_use]
    pub fn text_bytes(&self, id: u32) -> Vec<u8> {
        let is_text =
            self.has(id) && !matches!(self.vocabulary.kind(id), Kind::Control | Kind::Unknown);
        if is_text { self.token_bytes(id) } else { Vec::new() }
    }

    /// Returns the number of tokens, including added ones. The tokens that pad the vocabulary to a
    /// round size do not count.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        (0..self.vocabulary.len() as u32).filter(|id| self.has(*id)).count()
    }

    fn has(&self, id: u32) -> bool {
        (id as usize) < self.vocabulary.len() && self.vocabulary.kind(id) != Kind::Unused
    }
}

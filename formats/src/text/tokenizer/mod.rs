//! One tokenizer, whichever kind of file it comes from: the keys `tokenizer.ggml.*` of a GGUF file,
//! or `tokenizer.json`, from which the same keys are made.
//!
//! Two kinds: byte-level byte-pair encoding (`gpt2`: a text is cut into words, and an order of
//! merges makes tokens of a word's bytes), and SentencePiece (`llama`: a text is one piece, and the
//! score of what two neighbours make says which are merged first). Written here and not taken from
//! the `tokenizers` crate, which a learner would wait for with 60 other crates, and whose maps take
//! more memory than the cache. Tests compare the two.

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
use crate::gguf::{
    Metadata,
    convert::{read_text, tokenizer_keys},
};

const MODEL: &str = "tokenizer.ggml.model";
const BOS: &str = "tokenizer.ggml.bos_token_id";
const ADD_BOS: &str = "tokenizer.ggml.add_bos_token";

/// Turns text into token ids and back.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    added: AddedTokens,
    /// The token that begins every text, if one does.
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
    /// If the file is missing or is not a tokenizer of a kind that this engine knows.
    pub fn from_folder(folder: &Path) -> Result<Self> {
        let path = folder.join("tokenizer.json");
        Self::from_json(&read_text(&path)?, &path.display().to_string())
    }

    /// Reads the text of a `tokenizer.json`; `file` is its name in messages.
    ///
    /// # Errors
    /// If it is not a tokenizer of a kind that this engine knows.
    pub fn from_json(json: &str, file: &str) -> Result<Self> {
        Self::from_gguf(&tokenizer_keys(json, file)?)
    }

    /// The tokenizer of a GGUF file: byte-level (`gpt2`) or SentencePiece (`llama`). It gives the
    /// ids that the Hugging Face tokenizer gives from which such a file is made.
    ///
    /// # Errors
    /// If the metadata holds no tokenizer or one of another kind, or parts of it do not fit
    /// together (fewer scores than tokens, a merge of what is no token).
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

    /// The ids of `text`, and no others. Special tokens that are spelled out in the text
    /// (`<|im_end|>`) become their ids: a chat template's output is encoded with this.
    ///
    /// # Errors
    /// If the text has a part that the vocabulary cannot express.
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

    /// The ids of a text that a model is to continue: as [`Tokenizer::encode`], after the token
    /// that begins a text if this tokenizer adds one (Llama) and the text does not begin with it
    /// already. Nothing is added at the end.
    ///
    /// # Errors
    /// If the text has a part that the vocabulary cannot express.
    pub fn encode_prompt(&self, text: &str) -> Result<Vec<u32>> {
        let prefix = self.prefix.as_slice();
        let ids = self.encode(text)?;
        Ok(if ids.starts_with(prefix) { ids } else { [prefix, &ids].concat() })
    }

    /// The text of these ids, special tokens included. Bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// If an id is not in the vocabulary.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        if let Some(id) = ids.iter().find(|id| !self.has(**id)) {
            bail!("token {id} is not in the tokenizer's vocabulary of {}", self.vocab_size());
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

    /// The bytes that a token stands for within a text; a character may be spread over several
    /// tokens. None for an id that the tokenizer does not have: the model's vocabulary may be
    /// padded to a round size.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Vec<u8> {
        if self.has(id) { self.vocabulary.bytes_of(id).to_vec() } else { Vec::new() }
    }

    /// The same for a token that is text; none for one that means something else where a text is
    /// written: it ends a text or begins a turn (`<|im_end|>`), or stands for what is unknown.
    #[must_use]
    pub fn text_bytes(&self, id: u32) -> Vec<u8> {
        let is_text =
            self.has(id) && !matches!(self.vocabulary.kind(id), Kind::Control | Kind::Unknown);
        if is_text { self.token_bytes(id) } else { Vec::new() }
    }

    /// How many tokens there are, the added ones included, without those that pad the vocabulary to
    /// a round size.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        (0..self.vocabulary.len() as u32).filter(|id| self.has(*id)).count()
    }

    fn has(&self, id: u32) -> bool {
        (id as usize) < self.vocabulary.len() && self.vocabulary.kind(id) != Kind::Unused
    }
}

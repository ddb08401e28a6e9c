//! The tokenizer of a GGUF file: `tokenizer.ggml.*`.
//!
//! Two kinds: byte-level byte-pair encoding (`gpt2`: a text is cut into words, and an order of
//! merges makes tokens of a word's bytes), and SentencePiece (`llama`: a text is one piece, and the
//! score of what two neighbours make says which are merged first). A compact form of our own: with
//! the structures of the `tokenizers` crate, vocabulary and merges would take more memory than the
//! cache, and longer to build than the first token takes.

mod added;
mod byte_level;
mod merge;
mod sentence_piece;
mod split;
mod vocabulary;

use anyhow::{Result, bail};

use self::{
    added::AddedTokens,
    byte_level::ByteLevel,
    merge::Merger,
    sentence_piece::SentencePiece,
    vocabulary::{Kind, Vocabulary},
};
use crate::gguf::Metadata;

const MODEL: &str = "tokenizer.ggml.model";
const BOS: &str = "tokenizer.ggml.bos_token_id";
const ADD_BOS: &str = "tokenizer.ggml.add_bos_token";

/// See the module.
pub(super) struct GgufTokenizer {
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

impl GgufTokenizer {
    pub(super) fn new(metadata: &Metadata) -> Result<Self> {
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

    /// What is put before a text that a model is to continue.
    pub(super) fn prefix(&self) -> &[u32] {
        self.prefix.as_slice()
    }

    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>> {
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

    pub(super) fn decode(&self, ids: &[u32]) -> Result<String> {
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

    pub(super) fn token_bytes(&self, id: u32) -> Vec<u8> {
        if self.has(id) { self.vocabulary.bytes_of(id).to_vec() } else { Vec::new() }
    }

    pub(super) fn is_text(&self, id: u32) -> bool {
        self.has(id) && !matches!(self.vocabulary.kind(id), Kind::Control | Kind::Unknown)
    }

    /// Without those that pad the vocabulary to a round size.
    pub(super) fn vocab_size(&self) -> usize {
        (0..self.vocabulary.len() as u32).filter(|id| self.has(*id)).count()
    }

    fn has(&self, id: u32) -> bool {
        (id as usize) < self.vocabulary.len() && self.vocabulary.kind(id) != Kind::Unused
    }
}

//! `tokenizer.json`, read by the `tokenizers` crate.

use std::collections::HashMap;

use anyhow::{Result, anyhow, bail};
use serde_json::Value;

/// See [`Tokenizer`](super::Tokenizer), whose methods say what these do.
pub(super) struct JsonTokenizer {
    inner: tokenizers::Tokenizer,
    /// What the tokenizer's post-processor puts before a text: nothing, or the token that begins
    /// one.
    prefix: Vec<u32>,
    spelling: Spelling,
}

/// How a tokenizer's vocabulary spells bytes that are not plain text.
enum Spelling {
    /// Every byte is one printable character (GPT-2, Llama 3, Qwen).
    ByteLevel(HashMap<char, u8>),
    /// `▁` is a space, and `<0x0A>` is a byte that has no token of its own (SentencePiece: Llama 2,
    /// TinyLlama).
    SentencePiece,
    /// As it reads.
    Plain,
}

impl JsonTokenizer {
    pub(super) fn from_json(json: &str, file: &str) -> Result<Self> {
        let wrong = |e: &dyn std::fmt::Display| {
            anyhow!("{file}: not a tokenizer: {}", e.to_string().replace('\n', " "))
        };
        let mut inner: tokenizers::Tokenizer =
            json.parse().map_err(|e: tokenizers::Error| wrong(&e))?;
        // Settings for training batches, which some files carry; here they would cut or lengthen a
        // prompt silently.
        inner.with_truncation(None).map_err(|e| wrong(&e))?.with_padding(None);
        let prefix = added_before(&inner).map_err(|e| wrong(&e))?;
        let spelling = spelling(&serde_json::to_value(inner.get_decoder())?);
        Ok(Self { inner, prefix, spelling })
    }

    pub(super) fn prefix(&self) -> &[u32] {
        &self.prefix
    }

    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>> {
        encode(&self.inner, text, false)
    }

    pub(super) fn decode(&self, ids: &[u32]) -> Result<String> {
        if let Some(id) = ids.iter().find(|id| self.inner.id_to_token(**id).is_none()) {
            bail!("token {id} is not in the tokenizer's vocabulary of {}", self.vocab_size());
        }
        self.inner.decode(ids, false).map_err(|e| anyhow!("decoding: {e}"))
    }

    pub(super) fn token_bytes(&self, id: u32) -> Vec<u8> {
        let Some(token) = self.inner.id_to_token(id) else { return Vec::new() };
        if self.inner.get_added_vocabulary().is_special_token(&token) {
            return token.into_bytes();
        }
        match &self.spelling {
            // A character outside the alphabet can only come from an added token, which is spelled
            // as it reads.
            Spelling::ByteLevel(alphabet) => token
                .chars()
                .map(|c| alphabet.get(&c).copied())
                .collect::<Option<_>>()
                .unwrap_or_else(|| token.into_bytes()),
            Spelling::SentencePiece => match byte_token(&token) {
                Some(byte) => vec![byte],
                None => token.replace('▁', " ").into_bytes(),
            },
            Spelling::Plain => token.into_bytes(),
        }
    }

    pub(super) fn is_text(&self, id: u32) -> bool {
        let token = self.inner.id_to_token(id);
        token.is_some_and(|token| !self.inner.get_added_vocabulary().is_special_token(&token))
    }

    pub(super) fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }
}

fn encode(inner: &tokenizers::Tokenizer, text: &str, post_process: bool) -> Result<Vec<u32>> {
    let encoding = inner.encode(text, post_process).map_err(|e| anyhow!("encoding: {e}"))?;
    Ok(encoding.get_ids().to_vec())
}

/// What the post-processor puts before a text: seen on a text of one letter.
fn added_before(inner: &tokenizers::Tokenizer) -> Result<Vec<u32>> {
    let (plain, processed) = (encode(inner, "a", false)?, encode(inner, "a", true)?);
    let at =
        (0..processed.len()).find(|&at| !plain.is_empty() && processed[at..].starts_with(&plain));
    Ok(processed[..at.unwrap_or(0)].to_vec())
}

/// Read off the decoder, which must know it too.
fn spelling(decoder: &Value) -> Spelling {
    let parts = match decoder["decoders"].as_array() {
        Some(parts) => parts.iter().collect(),
        None => vec![decoder],
    };
    let has = |kind: &str| parts.iter().any(|part| part["type"] == kind);
    if has("ByteLevel") {
        Spelling::ByteLevel(byte_alphabet())
    } else if has("ByteFallback")
        || has("Metaspace")
        || parts.iter().any(|part| part["pattern"]["String"] == "▁")
    {
        Spelling::SentencePiece
    } else {
        Spelling::Plain
    }
}

/// GPT-2's alphabet: a printable byte stands for itself, and the n-th of the others is the
/// character 256 + n.
fn byte_alphabet() -> HashMap<char, u8> {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let (printed, others): (Vec<u8>, Vec<u8>) = (0..=255).partition(|&byte| printable(byte));
    let printed = printed.into_iter().map(|byte| (char::from(byte), byte));
    printed.chain((256u32..).filter_map(char::from_u32).zip(others)).collect()
}

/// `<0x0A>` is the byte 10.
fn byte_token(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

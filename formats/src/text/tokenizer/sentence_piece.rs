//! SentencePiece with scores (`llama`), which Llama 2, TinyLlama and Mistral use.

use anyhow::{Result, bail, ensure};

use super::{
    merge::Merger,
    vocabulary::{Kind, NONE, Vocabulary},
};
use crate::gguf::{Array, Metadata, SPACE_PREFIX};

const SCORES: &str = "tokenizer.ggml.scores";
const UNKNOWN: &str = "tokenizer.ggml.unknown_token_id";
const ADD_SPACE: &str = "tokenizer.ggml.add_space_prefix";

pub(super) struct SentencePiece {
    /// For each token, its priority in merges. The token with the best score has the smallest
    /// priority.
    priorities: Vec<u32>,
    /// For each byte, the id of its token, or `NONE` if it has none.
    bytes: Vec<u32>,
    /// The token that replaces a character without a token, if one of its bytes has no token
    /// either.
    unknown: u32,
    space: Space,
}

/// When a space is added before a stretch of text. With the space, a word at the beginning becomes
/// the same token as within the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Never,
    Always,
    /// Only if there is no space yet. With `first_only`, only at the beginning of the whole text.
    Missing {
        first_only: bool,
    },
}

impl SentencePiece {
    pub(super) fn new(metadata: &Metadata) -> Result<(Vocabulary, Self)> {
        let vocabulary = Vocabulary::new(metadata, &[Kind::Normal], spell)?;
        let Array::F32(scores) = metadata.required(SCORES, metadata.array(SCORES))? else {
            return Err(metadata.wrong(SCORES, "an array of 32-bit floats"));
        };
        let (file, count) = (metadata.file(), vocabulary.len());
        ensure!(
            scores.len() == count,
            "{file}: metadata {SCORES}: found {} elements, expected one for each of {count} tokens",
            scores.len()
        );
        if let Some(id) = scores.iter().position(|score| score.is_nan()) {
            bail!("{file}: metadata {SCORES}: token {id}: found NaN, expected a number");
        }
        let mut bytes = vec![NONE; 256];
        for id in (0..count as u32).rev().filter(|id| vocabulary.kind(*id) == Kind::Byte) {
            let [byte] = vocabulary.bytes_of(id) else {
                bail!("{file}: token {id}: found a malformed byte token, expected one like <0x0A>")
            };
            bytes[*byte as usize] = id;
        }
        let unknown = vocabulary.id_in(metadata, UNKNOWN)?.unwrap_or(0);
        let space = match metadata.text(SPACE_PREFIX)? {
            Some("metaspace-first") => Space::Missing { first_only: true },
            Some("metaspace-always") => Space::Missing { first_only: false },
            Some(_) => {
                return Err(metadata.wrong(SPACE_PREFIX, "metaspace-first or metaspace-always"));
            }
            None if metadata.flag(ADD_SPACE)?.unwrap_or(true) => Space::Always,
            None => Space::Never,
        };
        let priorities = scores.iter().map(|score| priority(*score)).collect();
        Ok((vocabulary, Self { priorities, bytes, unknown, space }))
    }

    /// Encodes `text`, which contains no added tokens, and appends its ids to `ids`. `first` says
    /// whether the whole text begins with this part.
    ///
    /// # Errors
    /// If the text is 4 GiB or longer.
    pub(super) fn encode(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        first: bool,
        merger: &mut Merger,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let text = text.replace('▁', " ");
        let space = match self.space {
            Space::Never => false,
            Space::Always => true,
            Space::Missing { first_only } => !text.starts_with(' ') && (first || !first_only),
        };
        let text = if space { format!(" {text}") } else { text };
        ensure!(
            u32::try_from(text.len()).is_ok(),
            "found a text of {} bytes, expected at most {}",
            text.len(),
            u32::MAX
        );

        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            merger.push(vocabulary.id(&text.as_bytes()[at..end]).unwrap_or(NONE), at, end);
        }
        let mut last_unknown = false;
        merger.merge(
            |left, right| {
                let id = vocabulary.id(&text.as_bytes()[left.start as usize..right.end as usize])?;
                Some((self.priorities[id as usize], id))
            },
            |symbol| {
                let piece = &text.as_bytes()[symbol.start as usize..symbol.end as usize];
                let in_bytes = || piece.iter().map(|byte| self.bytes[*byte as usize]);
                let unknown = symbol.id == NONE && in_bytes().any(|id| id == NONE);
                match symbol.id {
                    // Neighbouring symbols without a token become one unknown token.
                    NONE if unknown => ids.extend((!last_unknown).then_some(self.unknown)),
                    NONE => ids.extend(in_bytes()),
                    id => ids.push(id),
                }
                last_unknown = unknown;
            },
        );
        Ok(())
    }

    /// Returns the text of these ids, without a space that [`SentencePiece::encode`] may have put
    /// before it. A run of bytes that is not UTF-8 becomes one U+FFFD per byte, as in Hugging
    /// Face's tokenizers.
    pub(super) fn decode(&self, vocabulary: &Vocabulary, ids: &[u32]) -> String {
        let mut text = String::new();
        for run in ids.chunk_by(|a, b| {
            (vocabulary.kind(*a) == Kind::Byte) == (vocabulary.kind(*b) == Kind::Byte)
        }) {
            let bytes: Vec<u8> =
                run.iter().flat_map(|id| vocabulary.bytes_of(*id)).copied().collect();
            match String::from_utf8(bytes) {
                Ok(piece) => text += &piece,
                Err(bytes) => text.extend(std::iter::repeat_n('\u{FFFD}', bytes.as_bytes().len())),
            }
        }
        match text.strip_prefix(' ') {
            Some(rest) if self.space != Space::Never => rest.to_owned(),
            _ => text,
        }
    }
}

/// Appends the bytes of a token: `▁` is a space, and `<0x0A>` is a byte. Added tokens are copied as
/// they are.
fn spell(token: &str, kind: Kind, bytes: &mut Vec<u8>) {
    let digits = token
        .strip_prefix("<0x")
        .and_then(|rest| rest.strip_suffix('>'))
        .filter(|digits| digits.len() == 2);
    match (kind, digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
        (Kind::Byte, Some(byte)) => bytes.push(byte),
        (Kind::Normal, _) => {
            for (i, part) in token.split('▁').enumerate() {
                if i > 0 {
                    bytes.push(b' ');
                }
                bytes.extend(part.bytes());
            }
        }
        _ => bytes.extend(token.bytes()),
    }
}

/// Maps a score to an integer so that larger scores get smaller integers.
fn priority(score: f32) -> u32 {
    // For negative floats, the order of the bits is reversed. Adding zero turns −0 into 0.
    let bits = (score + 0.0).to_bits();
    let ascending = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    !ascending
}

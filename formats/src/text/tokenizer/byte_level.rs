//! Byte-level byte-pair encoding (`gpt2`), which GPT-2, Llama 3, Qwen, SmolLM and gpt-oss use.

use anyhow::{Result, anyhow, ensure};
use unicode_normalization_alignments::UnicodeNormalization;

use super::{
    merge::Merger,
    split::{Pre, Splitter},
    vocabulary::{Index, Kind, NONE, Vocabulary},
};
use crate::gguf::{Array, LOWERCASE, Metadata, NORMALIZES, WHOLE, WHOLE_WORDS};

const PRE: &str = "tokenizer.ggml.pre";
const MERGES: &str = "tokenizer.ggml.merges";

pub(super) struct ByteLevel {
    splitter: Splitter,
    /// Whether a text is converted to Unicode's normal form C before it is cut.
    nfc: bool,
    /// Whether a text is converted to lower case before it is cut.
    lowercase: bool,
    /// Whether a word that is itself a token is used whole, without merging its bytes.
    whole_words: bool,
    /// Whether the BOS token is added before a text, if the file does not specify it.
    pub(super) adds_bos: bool,
    /// For each byte, the id of its token, or `NONE` if it has none.
    bytes: Vec<u32>,
    merges: Merges,
}

impl ByteLevel {
    pub(super) fn new(metadata: &Metadata) -> Result<(Vocabulary, Self)> {
        let name = metadata.text(PRE)?.unwrap_or("default");
        // For each family: how text is cut, whether to use normal form C, whether words are used
        // whole, and whether the BOS token is added before a text.
        let (pre, nfc, whole_words, adds_bos) = match name {
            "default" => (Pre::Default, false, false, false),
            "gpt-2" | "phi-2" => (Pre::Gpt2, false, false, false),
            "smollm" => (Pre::SmolLm, false, false, false),
            "llama-bpe" | "llama3" | "llama-v3" => (Pre::Llama3 { digits: 3 }, false, true, true),
            "smaug-bpe" => (Pre::Llama3 { digits: 3 }, false, false, false),
            "qwen2" => (Pre::Llama3 { digits: 1 }, true, false, false),
            "gpt-4o" => (Pre::O200k, false, false, false),
            WHOLE => (Pre::Whole, false, false, false),
            "deepseek-r1-qwen" => (Pre::Llama3 { digits: 1 }, false, false, false),
            _ => {
                return Err(metadata.wrong(
                    PRE,
                    "gpt-2, gpt-4o, llama-bpe, qwen2, smollm or default, or one of their aliases",
                ));
            }
        };
        let nfc = metadata.flag(NORMALIZES)?.unwrap_or(nfc);
        let whole_words = metadata.flag(WHOLE_WORDS)?.unwrap_or(whole_words);
        let lowercase = metadata.flag(LOWERCASE)?.unwrap_or(false);
        let alphabet = alphabet();
        // A merge may produce a token that is also an added token.
        let found = [Kind::Normal, Kind::UserDefined, Kind::Control, Kind::Unknown];
        let vocabulary = Vocabulary::new(metadata, &found, |token, kind, bytes| {
            spell(&alphabet, token, kind, bytes);
        })?;
        let merges = Merges::new(metadata, &vocabulary, |token, bytes| {
            spell(&alphabet, token, Kind::Normal, bytes);
        })?;
        let bytes = (0..=255).map(|byte: u8| vocabulary.id(&[byte]).unwrap_or(NONE)).collect();
        Ok((
            vocabulary,
            Self {
                splitter: Splitter::new(pre),
                nfc,
                lowercase,
                whole_words,
                adds_bos,
                bytes,
                merges,
            },
        ))
    }

    /// Encodes `text`, which contains no added tokens, and appends its ids to `ids`. Leaves out a
    /// byte that has no token, as Hugging Face's tokenizers do.
    pub(super) fn encode(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        merger: &mut Merger,
        ids: &mut Vec<u32>,
    ) {
        let normal: String;
        let text = if self.lowercase {
            normal = text.chars().flat_map(char::to_lowercase).collect();
            &normal
        } else if self.nfc && !text.is_ascii() {
            normal = text.nfc().map(|(c, _)| c).collect();
            &normal
        } else {
            text
        };
        self.splitter.split(text, &mut |word| {
            if let Some(id) = self.whole_words.then(|| vocabulary.id(word.as_bytes())).flatten() {
                return ids.push(id);
            }
            for (at, byte) in word.bytes().enumerate() {
                let id = self.bytes[byte as usize];
                if id != NONE {
                    merger.push(id, at, at + 1);
                }
            }
            merger.merge(
                |left, right| self.merges.find(left.id, right.id),
                |symbol| ids.push(symbol.id),
            );
        });
    }
}

/// The pairs of tokens that are merged, and the order of their merges.
struct Merges {
    /// For each merge, the left, the right and the merged token, in the order of the file.
    pairs: Vec<[u32; 3]>,
    index: Index,
}

impl Merges {
    fn new(
        metadata: &Metadata,
        vocabulary: &Vocabulary,
        spell: impl Fn(&str, &mut Vec<u8>),
    ) -> Result<Self> {
        let Array::String(lines) = metadata.required(MERGES, metadata.array(MERGES))? else {
            return Err(metadata.wrong(MERGES, "an array of strings"));
        };
        ensure!(
            u32::try_from(lines.len()).is_ok(),
            "{}: metadata {MERGES}: found {} elements, expected fewer than 2^32",
            metadata.file(),
            lines.len()
        );
        let mut merges = Self {
            pairs: Vec::with_capacity(lines.len()),
            index: Index::with_room_for(lines.len()),
        };
        let mut bytes = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            let wrong = |what: &str| {
                anyhow!("{}: metadata {MERGES}: merge {i}: found {line:?}, {what}", metadata.file())
            };
            let Some((left, right)) = line.split_once(' ') else {
                return Err(wrong("expected two tokens with a space between them"));
            };
            bytes.clear();
            spell(left, &mut bytes);
            let middle = bytes.len();
            spell(right, &mut bytes);
            // Most vocabularies list tokens in the order in which merges make them. So try the next
            // id first, and search only if that is wrong.
            let next = merges.pairs.last().map_or(0, |[.., merged]| merged + 1);
            let merged =
                if vocabulary.is(next, &bytes) { Some(next) } else { vocabulary.id(&bytes) };
            let (Some(left), Some(right), Some(merged)) =
                (vocabulary.id(&bytes[..middle]), vocabulary.id(&bytes[middle..]), merged)
            else {
                return Err(wrong("expected two tokens whose concatenation is a token"));
            };
            if merges.find(left, right).is_none() {
                let hash = merges.index.hash((left, right));
                merges.index.insert(hash, merges.pairs.len() as u32);
            }
            merges.pairs.push([left, right, merged]);
        }
        Ok(merges)
    }

    /// Returns a pair's position in the order of merges, and the token that the pair becomes.
    fn find(&self, left: u32, right: u32) -> Option<(u32, u32)> {
        let is = |at: u32| self.pairs[at as usize][..2] == [left, right];
        let at = self.index.find(self.index.hash((left, right)), is)?;
        Some((at, self.pairs[at as usize][2]))
    }
}

/// Returns the byte that each character of GPT-2's alphabet represents. A printable byte is
/// represented by the character with the same number. The n-th of the other bytes is represented by
/// character 256 + n.
fn alphabet() -> [Option<u8>; 256 + 68] {
    let mut alphabet = [None; 256 + 68];
    let mut others = 256..;
    for byte in 0..=255u8 {
        let printable = matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
        let character = if printable { byte as usize } else { others.next().expect("endless") };
        alphabet[character] = Some(byte);
    }
    alphabet
}

/// Appends the bytes that a token represents. Added tokens are copied without decoding, and so are
/// tokens with a character outside the alphabet.
fn spell(alphabet: &[Option<u8>], token: &str, kind: Kind, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    if kind == Kind::Normal {
        for c in token.chars() {
            match alphabet.get(c as usize).copied().flatten() {
                Some(byte) => bytes.push(byte),
                None => {
                    bytes.truncate(start);
                    return bytes.extend(token.bytes());
                }
            }
        }
    } else {
        bytes.extend(token.bytes());
    }
}

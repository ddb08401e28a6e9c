//! The tokens of a GGUF file in three flat arrays, and an index from bytes to ids.
//!
//! A vocabulary of 50,000 tokens takes about 1 MiB, less than a tenth of the memory of a map of
//! strings, and is built in milliseconds.

use std::hash::{BuildHasher, RandomState};

use anyhow::{Result, anyhow, bail, ensure};

use crate::gguf::{Array, Metadata, token_type};

const TOKENS: &str = "tokenizer.ggml.tokens";
const TYPES: &str = "tokenizer.ggml.token_type";

/// The kind of a token, from `tokenizer.ggml.token_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

/// All tokens, which can be looked up by id and by their bytes.
pub(super) struct Vocabulary {
    /// The bytes that each token represents in a text, all tokens one after another.
    bytes: Vec<u8>,
    /// For each token, the index in `bytes` at which its bytes end.
    ends: Vec<u32>,
    kinds: Vec<Kind>,
    index: Index,
}

impl Vocabulary {
    /// Reads tokens and their types. `spell(token, kind, bytes)` appends the bytes that a token
    /// represents in a text. [`Vocabulary::id`] finds tokens of the kinds in `found`. Of several
    /// tokens with the same bytes, it finds the one whose kind comes first in `found`. If their
    /// kinds are equal, it finds the one with the smallest id.
    pub(super) fn new(
        metadata: &Metadata,
        found: &[Kind],
        spell: impl Fn(&str, Kind, &mut Vec<u8>),
    ) -> Result<Self> {
        let Array::String(tokens) = metadata.required(TOKENS, metadata.array(TOKENS))? else {
            return Err(metadata.wrong(TOKENS, "an array of strings"));
        };
        ensure!(
            !tokens.is_empty(),
            "{}: metadata {TOKENS}: found no tokens, expected at least one",
            metadata.file()
        );
        let size = tokens.iter().map(String::len).sum::<usize>();
        ensure!(
            u32::try_from(size).is_ok() && tokens.len() < NONE as usize,
            "{}: metadata {TOKENS}: found {size} bytes of tokens, expected fewer than 2^32",
            metadata.file()
        );
        let kinds = kinds(metadata, tokens.len())?;
        let mut vocabulary = Self {
            bytes: Vec::with_capacity(size),
            ends: Vec::with_capacity(tokens.len()),
            kinds,
            index: Index::with_room_for(tokens.len()),
        };
        for (token, kind) in tokens.iter().zip(&vocabulary.kinds) {
            spell(token, *kind, &mut vocabulary.bytes);
            // `spell` never makes a token longer than it is in the file, and the sum of those
            // lengths has been checked.
            vocabulary.ends.push(vocabulary.bytes.len() as u32);
        }
        for wanted in found {
            for id in 0..tokens.len() as u32 {
                let bytes = vocabulary.bytes_of(id);
                if vocabulary.kind(id) == *wanted
                    && !bytes.is_empty()
                    && vocabulary.id(bytes).is_none()
                {
                    let hash = vocabulary.index.hash(bytes);
                    vocabulary.index.insert(hash, id);
                }
            }
        }
        Ok(vocabulary)
    }

    /// Returns the number of ids.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the bytes that a token represents in a text. Panics if there is no such id.
    pub(super) fn bytes_of(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        &self.bytes[start..self.ends[id] as usize]
    }

    /// Returns the kind of a token. Panics if there is no such id.
    pub(super) fn kind(&self, id: u32) -> Kind {
        self.kinds[id as usize]
    }

    /// Returns the id of the token with these bytes.
    pub(super) fn id(&self, bytes: &[u8]) -> Option<u32> {
        self.index.find(self.index.hash(bytes), |id| self.bytes_of(id) == bytes)
    }

    /// Returns whether `id` is a normal token with these bytes.
    pub(super) fn is(&self, id: u32, bytes: &[u8]) -> bool {
        (id as usize) < self.len() && self.kind(id) == Kind::Normal && self.bytes_of(id) == bytes
    }

    /// Returns the token id in the metadata at `key`, or `None` if the key is missing.
    pub(super) fn id_in(&self, metadata: &Metadata, key: &str) -> Result<Option<u32>> {
        match metadata.size(key)? {
            Some(id) if id < self.len() => Ok(Some(id as u32)),
            Some(id) => {
                bail!(
                    "{}: metadata {key}: found token {id}, expected one below the vocabulary's \
                     size, {}",
                    metadata.file(),
                    self.len()
                )
            }
            None => Ok(None),
        }
    }
}

/// Returns the kind of each token. All are normal if the file has no types.
fn kinds(metadata: &Metadata, count: usize) -> Result<Vec<Kind>> {
    let Some(array) = metadata.array(TYPES)? else { return Ok(vec![Kind::Normal; count]) };
    let Array::I32(types) = array else {
        return Err(metadata.wrong(TYPES, "an array of 32-bit integers"));
    };
    ensure!(
        types.len() == count,
        "{}: metadata {TYPES}: found {} elements, expected one for each of {count} tokens",
        metadata.file(),
        types.len()
    );
    let kind = |(id, number): (usize, &i32)| match *number {
        token_type::NORMAL => Ok(Kind::Normal),
        token_type::UNKNOWN => Ok(Kind::Unknown),
        token_type::CONTROL => Ok(Kind::Control),
        token_type::USER_DEFINED => Ok(Kind::UserDefined),
        token_type::UNUSED => Ok(Kind::Unused),
        token_type::BYTE => Ok(Kind::Byte),
        other => Err(anyhow!(
            "{}: metadata {TYPES}: token {id}: found type {other}, expected 1 to 6",
            metadata.file()
        )),
    };
    types.iter().enumerate().map(kind).collect()
}

/// The number that means "no id" or "no index".
pub(super) const NONE: u32 = u32::MAX;

/// A hash table of numbers. Their keys are stored elsewhere, so each method takes a key's hash. The
/// table uses open addressing with linear probing, and is at most half full. The hash has a random
/// key, so that no file can make the table slow.
pub(super) struct Index {
    /// The slots. Their number is a power of two. An empty slot is `NONE`.
    slots: Vec<u32>,
    state: RandomState,
}

impl Index {
    pub(super) fn with_room_for(count: usize) -> Self {
        Self { slots: vec![NONE; (2 * count).next_power_of_two()], state: RandomState::new() }
    }

    pub(super) fn hash(&self, key: impl std::hash::Hash) -> usize {
        self.state.hash_one(key) as usize
    }

    /// Returns the number with this hash that `is` accepts. `is` compares the number's key.
    pub(super) fn find(&self, hash: usize, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut place = hash & mask;
        while self.slots[place] != NONE {
            if is(self.slots[place]) {
                return Some(self.slots[place]);
            }
            place = (place + 1) & mask;
        }
        None
    }

    /// Adds a number. The table must not hold more numbers than it was created for.
    pub(super) fn insert(&mut self, hash: usize, number: u32) {
        let mask = self.slots.len() - 1;
        let mut place = hash & mask;
        while self.slots[place] != NONE {
            place = (place + 1) & mask;
        }
        self.slots[place] = number;
    }
}

//! Day 5. A prompt's keys and values in a file, so that the next run of the program doesn't have to
//! compute them.
//!
//! All numbers are little-endian:
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`VERSION`] |
//! | 4 | cache type: 0 for f32 and q8_0 (see [`Q8_0`]), 1 for f16 |
//! | 8 | the model's fingerprint |
//! | 4 each | number of layers, `H`, `D` (see [`PromptKey`]), number of tokens `n` |
//! | 4 `n` | the tokens |
//! | | for each layer, for each head: keys `[n, D]`, then values `[n, D]`, as stored in the cache |
//! | 8 | [`checksum`] of all earlier bytes |
//!
//! Tasks here: week3-day5 task 4 (`encode`, `decode`, `Prompt::in_common`, `Prompt::restore`,
//! `Prompt::read`). Everything else is provided.

use std::{fmt, io::Write, path::Path};

use anyhow::{Context, Result, bail, ensure};
use half::f16;
use tiny_llm_formats::{bytes::Bytes, unfinished::Unfinished};

use crate::week2::{
    cache::{self, CacheShape, Cells, KvCache},
    kernels::q8_rows::row_words,
    model::Model,
};

/// The first bytes of a prompt file. They end with a line break: a program that mistakes the file
/// for text may change the line break, and [`decode`] then rejects the file.
pub const MAGIC: [u8; 8] = *b"TINYKV\r\n";

/// The version of the file format.
pub const VERSION: u32 = 1;

/// Size of a prompt file's header in bytes. The tokens follow the header.
pub const HEADER: usize = 40;

/// Marks the file of a q8_0 cache: [`PromptKey::new`] XORs this constant into the model's
/// fingerprint. In all other respects, the file is an f32 file, whose elements are the words of
/// q8_0 rows. A program that does not know q8_0 finds a wrong fingerprint and rejects the file.
pub const Q8_0: u64 = u64::from_le_bytes(*b"q8_0 row");

/// How a file's elements are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheType {
    /// 4 bytes per element.
    F32,
    /// 2 bytes per element.
    F16,
}

impl fmt::Display for CacheType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
        })
    }
}

/// The properties of the model and the cache that a file must match to be usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptKey {
    /// The fingerprint of the model and of how it is run. For q8_0, XORed with [`Q8_0`].
    pub fingerprint: u64,
    /// How elements are stored.
    pub cache_type: CacheType,
    /// Number of layers in the model.
    pub layers: usize,
    /// `H`, the number of key and value heads.
    pub kv_heads: usize,
    /// `D`, the number of elements in a head. For q8_0, the number of words in a row.
    pub head_dim: usize,
    /// Whether the elements are words of q8_0 rows.
    pub holds_q8: bool,
}

impl PromptKey {
    /// Creates the key of a cache with this fingerprint, type and shape.
    #[must_use]
    pub fn new(fingerprint: u64, cache_type: cache::CacheType, shape: CacheShape) -> Self {
        let CacheShape { layers, kv_heads, head_dim, .. } = shape;
        let holds_q8 = cache_type == cache::CacheType::Q8_0;
        let (fingerprint, head_dim) = if holds_q8 {
            (fingerprint ^ Q8_0, row_words(head_dim))
        } else {
            (fingerprint, head_dim)
        };
        let cache_type = match cache_type {
            cache::CacheType::F16 => CacheType::F16,
            cache::CacheType::F32 | cache::CacheType::Q8_0 => CacheType::F32,
        };
        Self { fingerprint, cache_type, layers, kv_heads, head_dim, holds_q8 }
    }

    /// Returns the size in bytes of one stored element.
    fn number(self) -> usize {
        match self.cache_type {
            CacheType::F32 => 4,
            CacheType::F16 => 2,
        }
    }

    /// Returns the size in bytes of one head's keys for `n` positions. The head's values have the
    /// same size.
    fn of_a_head(self, n: usize) -> usize {
        n * self.head_dim * self.number()
    }
}

/// Encodes the keys and values of a sequence's first positions as a prompt file. `tokens` holds the
/// tokens at these positions. `key` must describe the cache: for each position, the cache's runs
/// hold `key.head_dim` elements of type `key.cache_type`. In a q8_0 cache, the elements are f32
/// words.
///
/// # Panics
/// If the sequence has fewer positions than `tokens`.
#[must_use]
pub fn encode(cache: &impl KvCache, sequence: usize, tokens: &[u32], key: PromptKey) -> Vec<u8> {
    // SOLUTION week3-day5 task 4
    let n = tokens.len();
    assert!(
        n <= cache.len(sequence),
        "found {n} tokens, but only {} positions in the cache",
        cache.len(sequence)
    );
    let mut out = MAGIC.to_vec();
    let cache_type = u32::from(key.cache_type == CacheType::F16);
    out.extend(VERSION.to_le_bytes());
    out.extend(cache_type.to_le_bytes());
    out.extend(key.fingerprint.to_le_bytes());
    for size in [key.layers, key.kv_heads, key.head_dim, n] {
        out.extend((size as u32).to_le_bytes());
    }
    out.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
    for layer in 0..key.layers {
        for head in 0..key.kv_heads {
            let runs = || cache.runs(layer, sequence, head, 0..n);
            runs().for_each(|run| append(run.keys, &mut out));
            runs().for_each(|run| append(run.values, &mut out));
        }
    }
    let sum = checksum(&out);
    out.extend(sum.to_le_bytes());
    out
    // END SOLUTION
}

// SOLUTION week3-day5 task 4 (helper)
/// Appends the bytes of the elements in `cells` to `out`, without converting the elements.
fn append(cells: Cells<'_>, out: &mut Vec<u8>) {
    match cells {
        Cells::F32(x) => out.extend(x.iter().flat_map(|x| x.to_le_bytes())),
        Cells::F16(x) => out.extend(x.iter().flat_map(|x| x.to_le_bytes())),
    }
}
// END SOLUTION

/// The contents of a file that [`decode`] has checked.
#[derive(Debug)]
pub struct Prompt<'a> {
    /// The tokens whose keys and values the file contains.
    pub tokens: Vec<u32>,
    key: PromptKey,
    /// The bytes between the tokens and the checksum.
    data: &'a [u8],
}

/// Checks a whole file and returns its contents.
///
/// # Errors
/// Each error is one line that says what was found and what was expected. Bytes of the file are
/// escaped (`escape_ascii`), because they may contain line breaks. The checks are made in this
/// order, and the message contains:
/// - `keys and values`, if the file does not begin with [`MAGIC`].
/// - `bytes`, if the file is too short to contain the header and the checksum.
/// - `version`, if the version is wrong.
/// - `cache type` and the number found, if this number is neither 0 nor 1.
/// - `f32` and `f16`, if the cache type is valid but differs from the key's.
/// - `fingerprint` and both fingerprints as 16 hexadecimal digits (`{:016x}`), if they differ.
/// - `layers`, `heads` or `numbers in a head`, if the number of layers, of heads or of numbers in a
///   head differs from the key's.
/// - `bytes` and the header's number of tokens (for example `6 tokens`), if the file's length does
///   not fit this number.
/// - `checksum`, if the checksum is wrong. A checksum in the message has 16 hexadecimal digits.
pub fn decode(bytes: &[u8], key: PromptKey) -> Result<Prompt<'_>> {
    // SOLUTION week3-day5 task 4
    ensure!(
        bytes.starts_with(&MAGIC),
        "found no keys and values of a prompt: the file does not begin with {MAGIC:?}"
    );
    ensure!(
        bytes.len() >= HEADER + 8,
        "found {} bytes, expected at least {}: the file is cut off",
        bytes.len(),
        HEADER + 8
    );
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    ensure!(number(8) == VERSION, "found version {}, expected {VERSION}", number(8));
    let cache_type = match number(12) {
        0 => CacheType::F32,
        1 => CacheType::F16,
        other => bail!("found cache type {other}, expected 0 (f32) or 1 (f16)"),
    };
    ensure!(
        cache_type == key.cache_type,
        "found an {cache_type} cache, expected {}",
        key.cache_type
    );
    ensure!(
        long(16) == key.fingerprint,
        "found the fingerprint {:016x}, expected {:016x}: the file was written with another model \
         or other kernels",
        long(16),
        key.fingerprint
    );
    for (i, (name, expected)) in
        [("layers", key.layers), ("heads", key.kv_heads), ("numbers in a head", key.head_dim)]
            .into_iter()
            .enumerate()
    {
        let found = number(24 + 4 * i);
        ensure!(found as usize == expected, "found {found} {name}, expected {expected}");
    }
    let n = number(36) as usize;
    // In u128, so that no number from a file can overflow.
    let numbers = (key.layers * key.kv_heads * key.head_dim * 2 * key.number()) as u128;
    let expected = (HEADER + 8) as u128 + n as u128 * (4 + numbers);
    ensure!(
        bytes.len() as u128 == expected,
        "found {} bytes, expected {expected} for {n} tokens",
        bytes.len()
    );
    let (body, sum) = bytes.split_at(bytes.len() - 8);
    let sum = u64::from_le_bytes(sum.try_into().expect("eight bytes"));
    let found = checksum(body);
    ensure!(
        found == sum,
        "found the checksum {found:016x}, expected {sum:016x}: the file is damaged"
    );
    let (tokens, data) = body[HEADER..].split_at(4 * n);
    let token = |x: &[u8]| u32::from_le_bytes(x.try_into().expect("four bytes"));
    let tokens = tokens.chunks_exact(4).map(token).collect();
    Ok(Prompt { tokens, key, data })
    // END SOLUTION
}

impl Prompt<'_> {
    /// Returns how many of the file's positions can be used for the text `tokens`. This is the
    /// length of the common prefix, but the text's last token never counts.
    #[must_use]
    pub fn in_common(&self, tokens: &[u32]) -> usize {
        // SOLUTION week3-day5 task 4
        let same = self.tokens.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        same.min(tokens.len().saturating_sub(1))
        // END SOLUTION
    }

    /// Writes the file's first `n` positions to an empty sequence of `cache`. For each position,
    /// calls `cache.write` for all layers and then `cache.advance`, as the model does. For a q8_0
    /// file, the caller wraps the cache in `FromWords`, which accepts words.
    ///
    /// # Panics
    /// If the file has fewer than `n` positions, or the cache has no room for them.
    pub fn restore(&self, cache: &mut impl KvCache, sequence: usize, n: usize) {
        // SOLUTION week3-day5 task 4
        let (heads, dim) = (self.key.kv_heads, self.key.head_dim);
        let (mut keys, mut values) = (vec![0.0; heads * dim], vec![0.0; heads * dim]);
        for position in 0..n {
            for layer in 0..self.key.layers {
                for head in 0..heads {
                    let at = head * dim..(head + 1) * dim;
                    self.read(layer, head, false, position, &mut keys[at.clone()]);
                    self.read(layer, head, true, position, &mut values[at]);
                }
                cache.write(layer, sequence, position, &keys, &values);
            }
            cache.advance(sequence, position);
        }
        // END SOLUTION
    }

    /// Reads a head's key (or value, if `values` is true) at a position into `out [D]`.
    fn read(&self, layer: usize, head: usize, values: bool, position: usize, out: &mut [f32]) {
        // SOLUTION week3-day5 task 4
        let (n, dim) = (self.tokens.len(), self.key.head_dim);
        let of_a_head = self.key.of_a_head(n);
        let before = 2 * (layer * self.key.kv_heads + head) + usize::from(values);
        let size = dim * self.key.number();
        let bytes = &self.data[before * of_a_head..][..of_a_head][position * size..][..size];
        match self.key.cache_type {
            CacheType::F32 => {
                for (x, b) in out.iter_mut().zip(bytes.chunks_exact(4)) {
                    *x = f32::from_le_bytes(b.try_into().expect("four bytes"));
                }
            }
            CacheType::F16 => {
                for (x, b) in out.iter_mut().zip(bytes.chunks_exact(2)) {
                    *x = f16::from_le_bytes(b.try_into().expect("two bytes")).to_f32();
                }
            }
        }
        // END SOLUTION
    }
}

/// Provided. Writes `bytes` to a temporary file, then renames it to `path`. So `path` never holds
/// an incomplete file. Until the rename, `path` still holds the old file, if any.
///
/// # Errors
/// If the file cannot be written. The old file is then unchanged.
pub fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = || -> Result<()> {
        let unfinished = Unfinished::new(path)?;
        let mut file = std::fs::File::create(unfinished.path())?;
        file.write_all(bytes)?;
        // Sync before the rename. Otherwise, if the machine crashes, `path` could refer to an empty
        // file.
        file.sync_all()?;
        drop(file);
        unfinished.finish()
    };
    written().with_context(|| format!("{}: cannot be written", path.display()))
}

/// Provided. Maps a file into memory, checks it, and passes its contents to `use_it`. Returns the
/// result of `use_it`, or `None` if there is no such file.
///
/// # Errors
/// If the file cannot be read, or [`decode`] rejects it. The message begins with the file's name.
pub fn open<T>(
    path: &Path,
    key: PromptKey,
    use_it: impl FnOnce(&Prompt<'_>) -> T,
) -> Result<Option<T>> {
    if std::fs::metadata(path).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let bytes = Bytes::map(path)?;
    let checked = check_q8(&bytes, key).and_then(|()| decode(&bytes, key));
    let prompt = checked.with_context(|| path.display().to_string())?;
    Ok(Some(use_it(&prompt)))
}

/// Provided. Checks that the file `bytes` and `key` are both for a q8_0 cache, or both not.
/// Compares only their fingerprints, so it accepts a file of another model.
///
/// # Errors
/// If the XOR of the two fingerprints is [`Q8_0`]. Then only one of them is for a q8_0 cache.
fn check_q8(bytes: &[u8], key: PromptKey) -> Result<()> {
    let header = bytes.get(12..24).filter(|_| bytes.starts_with(&MAGIC));
    let Some((kind, fingerprint)) = header.and_then(|header| header.split_first_chunk::<4>())
    else {
        return Ok(());
    };
    let fingerprint = u64::from_le_bytes(fingerprint.try_into().expect("eight bytes"));
    if fingerprint ^ Q8_0 == key.fingerprint {
        if !key.holds_q8 {
            bail!("found a q8_0 cache, expected {}", key.cache_type);
        }
        let found = if u32::from_le_bytes(*kind) == 1 { CacheType::F16 } else { CacheType::F32 };
        bail!("found an {found} cache, expected q8_0");
    }
    Ok(())
}

/// Provided. Returns a checksum of `bytes` that changes if any single byte changes. Each step
/// rotates the sum, XORs eight bytes into it and multiplies it by an odd constant. No step loses
/// information.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let words = bytes.chunks_exact(8);
    let mut rest = [0; 8];
    rest[..words.remainder().len()].copy_from_slice(words.remainder());
    let sum = words.fold(bytes.len() as u64, |sum, word| {
        mix(sum, u64::from_le_bytes(word.try_into().expect("eight bytes")))
    });
    mix(sum, u64::from_le_bytes(rest))
}

/// Provided. Returns a number that identifies `model` and the way it is run, which `how` describes.
/// The number changes if any weight changes.
#[must_use]
pub fn fingerprint(model: &Model, how: &str) -> u64 {
    let mut sums = vec![checksum(format!("{:?} {how}", model.config).as_bytes())];
    // The angles of the last position depend on all settings of RoPE.
    let mut turned = vec![1.0f32; model.config.head_dim];
    let last = model.config.max_positions.saturating_sub(1);
    model.rope.rotate(&mut turned, last, model.rope_layout);
    sums.push(checksum(bytemuck::cast_slice(&turned)));
    let norms = model.layers.iter().flat_map(|layer| {
        let heads = [&layer.q_norm, &layer.k_norm].into_iter().flatten();
        let biases = [&layer.q_proj, &layer.k_proj, &layer.v_proj, &layer.o_proj];
        let biases = biases.into_iter().filter_map(|linear| linear.bias.as_ref());
        [&layer.attention_norm, &layer.mlp_norm].into_iter().chain(heads).chain(biases)
    });
    for numbers in norms.chain([&model.norm]) {
        sums.push(checksum(bytemuck::cast_slice(numbers)));
    }
    for matrix in model.matrices().chain([&model.embedding]) {
        sums.push(checksum(matrix.bytes()));
        sums.push(matrix.tensor_type as u64);
    }
    checksum(bytemuck::cast_slice(&sums))
}

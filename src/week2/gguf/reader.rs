//! Reads untrusted bytes: numbers, counts, strings, and the header of a file.
//!
//! Tasks here: week2-day2 task 1 (`Reader::take`, `Reader::number`, `Reader::count`,
//! `Reader::string`, `Reader::header`). Everything else is provided.

use std::fmt::Display;

use anyhow::{Result, anyhow};
use tiny_llm_formats::gguf::MAGIC;

/// Minimum size of a metadata entry in bytes: an empty key (8 for its length), a type (4), and a
/// value (1).
const METADATA_BYTES: usize = 8 + 4 + 1;
/// Minimum size of an entry of the tensor table in bytes: an empty name (8 for its length), the
/// number of axes (4), one axis (8), a type (4), and an offset (8).
const TENSOR_BYTES: usize = 8 + 4 + 8 + 4 + 8;

/// The bytes of a file, and a position that moves forward as they are read.
///
/// The parameter `field` of a method is a name for the data that the method reads, such as
/// `"version"` or `"metadata general.name"`. Error messages contain this name.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    file: &'a str,
}

/// The header of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Version of the format, 2 or 3.
    pub version: u32,
    /// Number of entries in the tensor table.
    pub tensors: usize,
    /// Number of metadata entries.
    pub metadata: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader that begins at the first byte. `file` is the file's name in error messages.
    #[must_use]
    pub fn new(bytes: &'a [u8], file: &'a str) -> Self {
        Self { bytes, position: 0, file }
    }

    /// Returns the number of bytes read so far.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the number of bytes that are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Returns a one-line error that names the file, the field, the value found and the value
    /// expected.
    pub fn wrong(&self, field: &str, found: impl Display, expected: impl Display) -> anyhow::Error {
        anyhow!("{}: {field}: found {found}, expected {expected}", self.file)
    }

    /// Reads the next `n` bytes.
    ///
    /// # Errors
    /// If fewer than `n` bytes are left. The position then stays the same. The message contains the
    /// number of bytes left and the number requested.
    pub fn take(&mut self, n: usize, field: &str) -> Result<&'a [u8]> {
        todo!("week2-day2 task 1: Reader::take")
    }

    /// Reads the next `N` bytes. The caller converts them with `u16::from_le_bytes` or a similar
    /// function. Every number in the file is little-endian.
    ///
    /// # Errors
    /// The same as for [`Reader::take`].
    pub fn number<const N: usize>(&mut self, field: &str) -> Result<[u8; N]> {
        todo!("week2-day2 task 1: Reader::number")
    }

    /// Reads four bytes as an unsigned number.
    ///
    /// # Errors
    /// If fewer than four bytes are left.
    pub fn u32(&mut self, field: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.number(field)?))
    }

    /// Reads eight bytes as an unsigned number.
    ///
    /// # Errors
    /// If fewer than eight bytes are left.
    pub fn u64(&mut self, field: &str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.number(field)?))
    }

    /// Reads a count (eight bytes), which is the number of items that follow. `bytes_each` is the
    /// minimum size of an item, and must not be 0. Checks that this many items fit into the rest of
    /// the file, so that it is safe to allocate memory for them.
    ///
    /// # Errors
    /// If the rest of the file is too short for that many items. The position is then unspecified.
    /// The message contains the count, and either the number of items that fit or the number of
    /// bytes left.
    pub fn count(&mut self, bytes_each: usize, field: &str) -> Result<usize> {
        todo!("week2-day2 task 1: Reader::count")
    }

    /// Reads a string: its byte length (a `u64`), then UTF-8 without a terminating zero.
    ///
    /// # Errors
    /// If the file is too short. Also if the bytes are not UTF-8: the message then says that UTF-8
    /// was expected. After an error, the position is unspecified.
    pub fn string(&mut self, field: &str) -> Result<&'a str> {
        todo!("week2-day2 task 1: Reader::string")
    }

    /// Reads the header: [`MAGIC`], the version (four bytes), the number of tensors (eight bytes),
    /// and the number of metadata entries (eight bytes).
    ///
    /// # Errors
    /// If a field is wrong. The message names the field, the value found and the value expected.
    /// The fields are checked in this order:
    ///
    /// - `magic`: the file is not GGUF. Found: the file's first four bytes, escaped so that the
    ///   message stays on one line. Expected: `GGUF`.
    /// - `version`: the version is neither 2 nor 3. Found: the version. (A byte-swapped 2 or 3 is
    ///   reported as `big-endian`.) Expected: 2 or 3.
    /// - `tensors` or `metadata`: the file is too short for this number of entries. Found: the
    ///   number.
    pub fn header(&mut self) -> Result<Header> {
        todo!("week2-day2 task 1: Reader::header")
    }
}

/// Shortens and escapes a name that was read from a file, so that it fits on one line of a message.
#[must_use]
pub fn shown(name: &str) -> String {
    const ENOUGH: usize = 64;
    let mut shown: String = name.chars().take(ENOUGH).flat_map(char::escape_debug).collect();
    if name.chars().nth(ENOUGH).is_some() {
        shown.push('…');
    }
    shown
}

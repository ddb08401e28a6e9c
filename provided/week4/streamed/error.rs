//! Errors for a machine that has no `String`.

use core::{fmt, panic::Location};

/// An error of a streamed model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Error {
    /// The rest of the budget is too small.
    Full {
        /// The purpose of the memory.
        what: &'static str,
        /// Number of bytes requested, including those for alignment.
        wanted: usize,
        /// Number of free bytes.
        free: usize,
        /// Size of the whole budget in bytes.
        budget: usize,
        /// The line that requested the memory.
        at: &'static Location<'static>,
    },
    /// The file ended or the device failed before everything was read.
    Read {
        /// The component being read.
        part: &'static str,
        /// Offset in the file at which the read began.
        at: u64,
        /// Number of bytes requested.
        wanted: usize,
        /// Number of bytes read.
        got: usize,
        /// The device's error code, or `None` if the file ended.
        code: Option<i32>,
    },
    /// A field of the file is wrong.
    File {
        /// Name of the field, for example `version`.
        field: &'static str,
        /// The value found.
        found: u64,
        /// The value expected.
        expected: u64,
    },
    /// There is no such token.
    Token {
        /// Id of the token.
        token: u32,
        /// Number of tokens.
        tokens: usize,
    },
    /// The cache is full.
    Context {
        /// Number of positions in the cache.
        positions: usize,
    },
    /// All logits are NaN, so there is no best token.
    NoToken,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Full { what, wanted, free, budget, at } => write!(
                f,
                "{}:{}: \"{what}\" needs {wanted} bytes, but only {free} of {budget} are free",
                at.file(),
                at.line()
            ),
            Self::Read { part, at, wanted, got, code: None } => write!(
                f,
                "{part}, byte {at} of the file: found the end after {got} bytes, expected {wanted}"
            ),
            Self::Read { part, at, wanted, got, code: Some(code) } => write!(
                f,
                "{part}, byte {at} of the file: the device gave up after {got} of {wanted} bytes \
                 (error {code})"
            ),
            Self::File { field, found, expected } => {
                write!(f, "{field}: found {found}, expected {expected}")
            }
            Self::Token { token, tokens } => {
                write!(f, "token {token}: the model has tokens 0 to {}", tokens - 1)
            }
            Self::Context { positions } => {
                write!(f, "the cache of {positions} positions is full")
            }
            Self::NoToken => f.write_str("every logit is NaN"),
        }
    }
}

impl core::error::Error for Error {}

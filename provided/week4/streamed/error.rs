//! What can go wrong, on a machine that has no `String`.

use core::{fmt, panic::Location};

/// One of the things that stop a streamed model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Error {
    /// The budget has not so much left.
    Full {
        /// Whose memory it was to be.
        what: &'static str,
        /// Bytes that were asked for, and those that alignment takes.
        wanted: usize,
        /// Bytes that are left.
        free: usize,
        /// Bytes in all.
        budget: usize,
        /// The line that asked.
        at: &'static Location<'static>,
    },
    /// The file ended, or the device gave up, before all was read.
    Read {
        /// What was to be read.
        part: &'static str,
        /// The first byte of it in the file.
        at: u64,
        /// Bytes that were to be read.
        wanted: usize,
        /// Bytes that were.
        got: usize,
        /// What the device says; `None` at the end of the file.
        code: Option<i32>,
    },
    /// The file is not what it should be.
    File {
        /// What about it: `version`, `bytes of the file`.
        field: &'static str,
        /// As it is.
        found: u64,
        /// As it should be.
        expected: u64,
    },
    /// No such token.
    Token {
        /// Its number.
        token: u32,
        /// How many there are.
        tokens: usize,
    },
    /// The cache has no position left.
    Context {
        /// As many as it has.
        positions: usize,
    },
    /// No logit is a number, so no token is the best.
    NoToken,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Full { what, wanted, free, budget, at } => write!(
                f,
                "{}:{}: {what} wants {wanted} bytes, and {free} of the {budget} are left",
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
            Self::NoToken => f.write_str("no logit is a number"),
        }
    }
}

impl core::error::Error for Error {}

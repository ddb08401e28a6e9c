//! The types of a cache's elements.

use std::{fmt, str::FromStr};

use crate::week2::kernels::q8_rows::row_words;

/// How cached elements are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheType {
    /// 4 bytes per element.
    F32,
    /// 2 bytes per element.
    #[default]
    F16,
    /// One-byte codes, and a 2-byte scale for each block of up to 32 codes. The provided code of
    /// this type is in [`q8_rows`](crate::week2::kernels::q8_rows).
    Q8_0,
}

impl CacheType {
    /// Returns the size in bytes of one head's key (or value) of `head_dim` elements.
    #[must_use]
    pub fn row_bytes(self, head_dim: usize) -> usize {
        match self {
            Self::F32 => 4 * head_dim,
            Self::F16 => 2 * head_dim,
            Self::Q8_0 => 4 * row_words(head_dim),
        }
    }
}

impl fmt::Display for CacheType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q8_0 => "q8_0",
        })
    }
}

impl FromStr for CacheType {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "f32" => Ok(Self::F32),
            "f16" => Ok(Self::F16),
            "q8_0" => Ok(Self::Q8_0),
            _ => Err(format!("found cache type {name:?}, expected f32, f16 or q8_0")),
        }
    }
}

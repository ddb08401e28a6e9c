//! `F16` and `BF16`: no blocks, each weight is a number of its own. (`F32` needs nothing
//! but [`f32::from_le_bytes`].)
//!
//! ```text
//!        15 14        10 9                0            15 14              7 6           0
//!  F16   ± │ exponent 5 │  mantissa 10   │     BF16    ± │  exponent 8    │ mantissa 7 │
//! ```

use half::{bf16, f16};

/// A weight from its two bytes; exact.
#[must_use]
pub fn from_f16(bytes: [u8; 2]) -> f32 {
    f16::from_le_bytes(bytes).to_f32()
}

/// A weight from its two bytes; exact: they are the upper half of an f32.
#[must_use]
pub fn from_bf16(bytes: [u8; 2]) -> f32 {
    bf16::from_le_bytes(bytes).to_f32()
}

/// The nearest half-precision number, ties to even; beyond 65,520 it is infinite.
#[must_use]
pub fn to_f16(x: f32) -> [u8; 2] {
    f16::from_f32(x).to_le_bytes()
}

/// The nearest number of 8 significant bits, ties to even.
#[must_use]
pub fn to_bf16(x: f32) -> [u8; 2] {
    bf16::from_f32(x).to_le_bytes()
}

//! `F16` and `BF16`, which have no blocks: each weight is stored as one number. (`F32` needs only
//! [`f32::from_le_bytes`].)
//!
//! ```text
//!        15 14        10 9                0            15 14              7 6           0
//!  F16   ± │ exponent 5 │  mantissa 10   │     BF16    ± │  exponent 8    │ mantissa 7 │
//! ```

use half::{bf16, f16};

/// Decodes a weight from its two bytes, without rounding.
#[must_use]
pub fn from_f16(bytes: [u8; 2]) -> f32 {
    f16::from_le_bytes(bytes).to_f32()
}

/// Decodes a weight without rounding. Its two bytes are the upper half of an f32.
#[must_use]
pub fn from_bf16(bytes: [u8; 2]) -> f32 {
    bf16::from_le_bytes(bytes).to_f32()
}

/// Returns the half-precision number nearest to `x`, ties to even. A number whose magnitude is
/// 65,520 or more becomes infinite.
#[must_use]
pub fn to_f16(x: f32) -> [u8; 2] {
    f16::from_f32(x).to_le_bytes()
}

/// Returns the number with 8 significant bits that is nearest to `x`, ties to even.
#[must_use]
pub fn to_bf16(x: f32) -> [u8; 2] {
    bf16::from_f32(x).to_le_bytes()
}

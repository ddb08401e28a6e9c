//! `MXFP4`: 32 floats of 4 bits that share a power of two. This takes 4.25 bits per weight.
//!
//! ```text
//! byte  0   1                         17
//!       │ e │ b0 b1 b2 …          b15 │
//!        2^(e−127)  low half of bj: weight j, high half: weight j + 16
//! ```
//!
//! A weight is one of ±0, 0.5, 1, 1.5, 2, 3, 4, 6: a bit for the sign, two for the exponent, one
//! for the fraction. Source: OCP Microscaling Formats (MX) Specification, 2023.

use tiny_llm_formats::gguf::TensorType;

/// Size of a block in bytes.
pub const BYTES: usize = 1 + 16;
const _: () = assert!(BYTES == TensorType::MXFP4.block_bytes());

/// The values of the 16 codes, each times two.
pub const TWICE: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// The values of the 16 codes, each times two, plus [`OFFSET`], so that none is negative.
pub const ABOVE_ZERO: [u8; 16] = {
    let (mut above, mut i) = ([0; 16], 0);
    while i < 16 {
        above[i] = (TWICE[i] + OFFSET as i8) as u8;
        i += 1;
    }
    above
};
/// The number that [`ABOVE_ZERO`] adds.
pub const OFFSET: u8 = 12;

/// Decodes the 32 weights of a block.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    let half = half_of_scale(block[0]);
    for (j, &byte) in block[1..].iter().enumerate() {
        out[j] = half * f32::from(TWICE[usize::from(byte & 15)]);
        out[j + 16] = half * f32::from(TWICE[usize::from(byte >> 4)]);
    }
}

/// Returns `2^(e−127) / 2`. The results for the two smallest exponents are subnormal numbers.
pub fn half_of_scale(e: u8) -> f32 {
    f32::from_bits(if e < 2 { 0x0020_0000 << e } else { u32::from(e - 1) << 23 })
}

/// Converts a block of a Hugging Face checkpoint to this layout. The checkpoint stores neighbouring
/// codes in one byte, and the scale separately.
pub fn from_neighbours(scale: u8, codes: &[u8; 16]) -> [u8; BYTES] {
    let code = |i: usize| if i.is_multiple_of(2) { codes[i / 2] & 15 } else { codes[i / 2] >> 4 };
    let mut block = [0; BYTES];
    block[0] = scale;
    for j in 0..16 {
        block[1 + j] = code(j) | code(j + 16) << 4;
    }
    block
}

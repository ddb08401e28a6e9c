//! `Q2_K`: 256 weights of 2 bits, with a scale and a minimum of 4 bits for every 16 weights. This
//! takes 2.625 bits per weight.
//!
//! ```text
//! byte  0             16                    80  82     84
//!       │ s0 … s15    │ b0 b1 …         b63 │ d │ dmin │
//!         low half: scale, high half: minimum  f16 f16
//! ```
//!
//! `b0…b31` hold weights 0…127, `b32…b63` weights 128…255. In each half, byte `j` holds four
//! weights: `j` in its lowest two bits, then `j + 32`, `j + 64` and `j + 96`.
//!
//! weight `i = (d · scale) · qi − (dmin · minimum)`, with scale and minimum number `i / 16` and
//! `qi` in 0…3.

use std::array::from_fn;

use tiny_llm_formats::gguf::TensorType;

use super::{
    f16_at, put_f16,
    share::{code, share},
};

/// Size of a block in bytes.
pub const BYTES: usize = 16 + 64 + 2 + 2;
const _: () = assert!(BYTES == TensorType::Q2_K.block_bytes());

/// Decodes the 256 weights of a block.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 256]) {
    let (scales, quants) = (&block[..16], &block[16..80]);
    let (d, dmin) = (f16_at(block, 80), f16_at(block, 82));
    for (i, x) in out.iter_mut().enumerate() {
        let scale = d * f32::from(scales[i / 16] & 15);
        let minimum = dmin * f32::from(scales[i / 16] >> 4);
        // Weight i is in half i / 128, in bit pair i / 32 % 4 of byte i % 32.
        let q = quants[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
        *x = scale * f32::from(q) - minimum;
    }
}

/// Encodes a block of 256 finite weights. `search(x, n)` finds the scale and the minimum of 16
/// weights for codes up to `n`. Both are stored in 4 bits.
pub fn quantize(x: &[f32; 256], search: impl Fn(&[f32; 16], u8) -> (f32, f32)) -> [u8; BYTES] {
    let groups = x.as_chunks::<16>().0;
    let found: [_; 16] = from_fn(|j| search(&groups[j], 3));
    let (d, scales) = share(found.map(|(scale, _)| scale), 15);
    let (dmin, minimums) = share(found.map(|(_, min)| min), 15);
    let mut block = [0; BYTES];
    for j in 0..16 {
        block[j] = scales[j] | minimums[j] << 4;
    }
    for (i, x) in x.iter().enumerate() {
        let (scale, minimum) = (d * f32::from(scales[i / 16]), dmin * f32::from(minimums[i / 16]));
        block[16 + i / 128 * 32 + i % 32] |=
            (code(x + minimum, scale, 0.0, 3.0) as u8) << (i / 32 % 4 * 2);
    }
    put_f16(&mut block, 80, d);
    put_f16(&mut block, 82, dmin);
    block
}

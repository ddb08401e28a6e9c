//! `Q3_K`: 256 weights of 3 bits, with a scale of 6 bits for every 16 weights. This takes 3.4375
//! bits per weight.
//!
//! ```text
//! byte  0            32                    96            108 110
//!       │ h0 … h31   │ b0 b1 …         b63 │ s0 … s11    │ d │
//!         high bits    low two bits          16 scales    f16
//! ```
//!
//! The low two bits are stored as in `Q2_K`. The third bit of weight `i` is bit `i / 32` of
//! `h(i % 32)`. The low four bits of scale `j` are in `s(j % 8)`: in the low half for `j < 8`, and
//! in the high half otherwise. The scale's upper two bits are bits `j / 4 · 2` and `j / 4 · 2 + 1`
//! of `s(8 + j % 4)`.
//!
//! weight `i = (d · (scale − 32)) · (qi − 4)`, with scale number `i / 16` and `qi` in 0…7.

use std::array::from_fn;

use tiny_llm_formats::gguf::TensorType;

use super::{
    f16_at, put_f16,
    share::{code, share_signed},
};

/// Size of a block in bytes.
pub const BYTES: usize = 32 + 64 + 12 + 2;
const _: () = assert!(BYTES == TensorType::Q3_K.block_bytes());

/// Unpacks 16 scales of 6 bits, and subtracts 32 from each.
pub fn scales(packed: &[u8; 12]) -> [i8; 16] {
    std::array::from_fn(|j| {
        let low = packed[j % 8] >> (j / 8 * 4) & 15;
        let high = packed[8 + j % 4] >> (j / 4 * 2) & 3;
        (low | high << 4) as i8 - 32
    })
}

/// Decodes the 256 weights of a block.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 256]) {
    let (high, quants) = (&block[..32], &block[32..96]);
    let scales = scales(block[96..108].try_into().expect("12 bytes"));
    let d = f16_at(block, 108);
    for (i, x) in out.iter_mut().enumerate() {
        let low = quants[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
        let third = high[i % 32] >> (i / 32) & 1;
        *x = d * f32::from(scales[i / 16]) * (f32::from(low | third << 2) - 4.0);
    }
}

/// Encodes a block of 256 finite weights. `search(x, n)` finds the scale of 16 weights for codes
/// from `−n` to `n − 1`. The scale is stored in 6 bits.
pub fn quantize(x: &[f32; 256], search: impl Fn(&[f32; 16], u8) -> f32) -> [u8; BYTES] {
    let groups = x.as_chunks::<16>().0;
    let (d, scales) = share_signed::<16>(from_fn(|j| search(&groups[j], 4)), 32);
    let mut block = [0; BYTES];
    for (j, scale) in scales.iter().enumerate() {
        let stored = (scale + 32) as u8;
        block[96 + j % 8] |= (stored & 15) << (j / 8 * 4);
        block[104 + j % 4] |= stored >> 4 << (j / 4 * 2);
    }
    for (i, x) in x.iter().enumerate() {
        let q = (code(*x, d * f32::from(scales[i / 16]), -4.0, 3.0) + 4.0) as u8;
        block[i % 32] |= q >> 2 << (i / 32);
        block[32 + i / 128 * 32 + i % 32] |= (q & 3) << (i / 32 % 4 * 2);
    }
    put_f16(&mut block, 108, d);
    block
}

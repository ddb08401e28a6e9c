//! `Q5_K`: 256 weights of 5 bits, with a scale and a minimum of 6 bits for every 32 weights. This
//! takes 5.5 bits per weight.
//!
//! ```text
//! byte  0   2      4          16           48                         176
//!       │ d │ dmin │ s0 … s11 │ h0 … h31   │ b0 b1 b2 …          b127 │
//!        f16  f16               fifth bits   low four bits
//! ```
//!
//! Scales, minimums and the low four bits are stored as in `Q4_K`. The fifth bit of weight `i` is
//! bit `i / 32` of `h(i % 32)`.
//!
//! weight `i = (d · scale) · qi − (dmin · minimum)`, with scale and minimum number `i / 32` and
//! `qi` in 0…31.

use std::array::from_fn;

use tiny_llm_formats::gguf::TensorType;

use super::{
    f16_at, put_f16,
    share::{code, share},
    six_bits,
};

/// Size of a block in bytes.
pub const BYTES: usize = 2 + 2 + 12 + 32 + 128;
const _: () = assert!(BYTES == TensorType::Q5_K.block_bytes());

/// Decodes the 256 weights of a block.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 256]) {
    let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
    let (scales, minimums) = six_bits::unpack(block[4..16].try_into().expect("12 bytes"));
    let (scales, minimums) = (scales.to_le_bytes(), minimums.to_le_bytes());
    let high = &block[16..48];
    for (j, out) in out.chunks_exact_mut(32).enumerate() {
        let scale = d * f32::from(scales[j]);
        let minimum = dmin * f32::from(minimums[j]);
        let bytes = &block[48 + j / 2 * 32..][..32];
        for (i, x) in out.iter_mut().enumerate() {
            let q = bytes[i] >> (j % 2 * 4) & 15 | (high[i] >> j & 1) << 4;
            *x = scale * f32::from(q) - minimum;
        }
    }
}

/// Encodes a block of 256 finite weights, like `Q4_K` with one more bit per code. `search(x, n)`
/// finds the scale and the minimum of 32 weights for codes up to `n`.
pub fn quantize(x: &[f32; 256], search: impl Fn(&[f32; 32], u8) -> (f32, f32)) -> [u8; BYTES] {
    let groups = x.as_chunks::<32>().0;
    let found: [_; 8] = from_fn(|j| search(&groups[j], 31));
    let (d, scales) = share(found.map(|(scale, _)| scale), 63);
    let (dmin, minimums) = share(found.map(|(_, min)| min), 63);
    let mut block = [0; BYTES];
    put_f16(&mut block, 0, d);
    put_f16(&mut block, 2, dmin);
    block[4..16].copy_from_slice(&six_bits::pack(scales, minimums));
    for (j, group) in groups.iter().enumerate() {
        let (scale, minimum) = (d * f32::from(scales[j]), dmin * f32::from(minimums[j]));
        for (i, x) in group.iter().enumerate() {
            let q = code(x + minimum, scale, 0.0, 31.0) as u8;
            block[16 + i] |= q >> 4 << j;
            block[48 + j / 2 * 32 + i] |= (q & 15) << (j % 2 * 4);
        }
    }
    block
}

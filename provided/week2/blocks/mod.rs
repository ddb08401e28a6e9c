//! Days 3 and 4. How weights are stored: as small integers in blocks. Each format specifies how a
//! block's integers become weights. `src/week2/blocks` has a file for each format that the course
//! teaches. The other formats are in the crate `tiny_llm_kernels`. A block in a mapped file may
//! begin at any address, so blocks are read as bytes. `F16` and `BF16` have no blocks:
//!
//! ```text
//!        15 14        10 9                0            15 14              7 6           0
//!  F16   ± │ exponent 5 │  mantissa 10   │     BF16    ± │  exponent 8    │ mantissa 7 │
//! ```

use half::{bf16, f16};
use tiny_llm_formats::gguf::TensorType;
pub use tiny_llm_kernels::blocks::{f16_at, put_f16};
use tiny_llm_kernels::blocks::{mxfp4, q2_k, q3_k, q4_1, q5_1, q5_k};

use crate::week2::blocks::{q4_0, q4_k, q5_0, q6_k, q8_0};
use crate::week2::{search::search_scale_and_min, search_scale::search_scale};

/// Decodes a row of blocks: `bytes [cols / block_len · block_bytes]` → `out [cols]`. Any bytes are
/// valid: an infinite or NaN scale is multiplied like any other f32. The result is bit for bit what
/// Python's `gguf` package returns, except that a NaN may have different bits.
///
/// # Panics
/// If `out` isn't a whole number of blocks, or `bytes` has a different number of blocks.
pub fn dequantize_row(tensor_type: TensorType, bytes: &[u8], out: &mut [f32]) {
    assert_eq!(
        tensor_type.row_bytes(out.len()),
        Some(bytes.len()),
        "bytes of a row of {} weights in {tensor_type}",
        out.len()
    );
    match tensor_type {
        TensorType::F32 => read_each(bytes, out, |b, [x]| *x = f32::from_le_bytes(*b)),
        TensorType::F16 => read_each(bytes, out, |b, [x]| *x = f16::from_le_bytes(*b).to_f32()),
        TensorType::BF16 => read_each(bytes, out, |b, [x]| *x = bf16::from_le_bytes(*b).to_f32()),
        TensorType::Q4_0 => read_each(bytes, out, q4_0::dequantize),
        TensorType::Q4_1 => read_each(bytes, out, q4_1::dequantize),
        TensorType::Q5_0 => read_each(bytes, out, q5_0::dequantize),
        TensorType::Q5_1 => read_each(bytes, out, q5_1::dequantize),
        TensorType::Q8_0 => read_each(bytes, out, q8_0::dequantize),
        TensorType::Q2_K => read_each(bytes, out, q2_k::dequantize),
        TensorType::Q3_K => read_each(bytes, out, q3_k::dequantize),
        TensorType::Q4_K => read_each(bytes, out, q4_k::dequantize),
        TensorType::Q5_K => read_each(bytes, out, q5_k::dequantize),
        TensorType::Q6_K => read_each(bytes, out, q6_k::dequantize),
        TensorType::MXFP4 => read_each(bytes, out, mxfp4::dequantize),
    }
}

fn read_each<const BYTES: usize, const LEN: usize>(
    bytes: &[u8],
    out: &mut [f32],
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; LEN]),
) {
    for (block, out) in bytes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        dequantize(block, out);
    }
}

/// Encodes a row of finite weights: `x [cols]` → `out [cols / block_len · block_bytes]`.
/// `F16` and `BF16` round to nearest, ties to even. In `F16`, a magnitude of 65,520 or more becomes
/// infinite.
///
/// # Panics
/// If `x` isn't a whole number of blocks, or `out` has a different number of blocks. Also if
/// `tensor_type` is `MXFP4`, which can only be read.
pub fn quantize_row(tensor_type: TensorType, x: &[f32], out: &mut [u8]) {
    assert_eq!(
        tensor_type.row_bytes(x.len()),
        Some(out.len()),
        "room for a row of {} weights in {tensor_type}",
        x.len()
    );
    match tensor_type {
        TensorType::F32 => write_each(x, out, |[x]| x.to_le_bytes()),
        TensorType::F16 => write_each(x, out, |[x]| f16::from_f32(*x).to_le_bytes()),
        TensorType::BF16 => write_each(x, out, |[x]| bf16::from_f32(*x).to_le_bytes()),
        TensorType::Q4_0 => write_each(x, out, q4_0::quantize),
        TensorType::Q4_1 => write_each(x, out, q4_1::quantize),
        TensorType::Q5_0 => write_each(x, out, q5_0::quantize),
        TensorType::Q5_1 => write_each(x, out, q5_1::quantize),
        TensorType::Q8_0 => write_each(x, out, q8_0::quantize),
        TensorType::Q2_K => write_each(x, out, |x| q2_k::quantize(x, scale_and_min)),
        TensorType::Q3_K => write_each(x, out, |x| q3_k::quantize(x, search_scale)),
        TensorType::Q4_K => write_each(x, out, q4_k::quantize),
        TensorType::Q5_K => write_each(x, out, |x| q5_k::quantize(x, scale_and_min)),
        TensorType::Q6_K => write_each(x, out, q6_k::quantize),
        TensorType::MXFP4 => {
            panic!("{tensor_type} can only be read: quantizing to this type is not supported")
        }
    }
}

fn write_each<const LEN: usize, const BYTES: usize>(
    x: &[f32],
    out: &mut [u8],
    quantize: impl Fn(&[f32; LEN]) -> [u8; BYTES],
) {
    for (x, block) in x.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        *block = quantize(x);
    }
}

fn scale_and_min<const N: usize>(x: &[f32; N], top: u8) -> (f32, f32) {
    let found = search_scale_and_min(x, top);
    (found.scale, found.min)
}

//! Days 3 and 4. How weights are stored: small integers in blocks, and what each block's integers are multiplied with.
//!
//! One file per format. A block is read from bytes, wherever they lie: in a mapped file a block begins at any address.

pub mod plain;
pub mod q2_k;
pub mod q3_k;
pub mod q4_0;
pub mod q4_1;
pub mod q4_k;
pub mod q5_0;
pub mod q5_1;
pub mod q5_k;
pub mod q6_k;
pub mod q8_0;

use half::f16;
use tiny_llm_kit::gguf::TensorType;

/// The half-precision number whose first byte is `at`.
#[must_use]
pub fn f16_at(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

/// Decodes a row of blocks: `out [cols]`, `bytes [cols / block_len · block_bytes]`.
///
/// # Panics
/// If `out` is no whole number of blocks, or `bytes` are not as many.
pub fn dequantize_row(tensor_type: TensorType, bytes: &[u8], out: &mut [f32]) {
    assert_eq!(tensor_type.row_bytes(out.len()), Some(bytes.len()), "bytes of a row of {} weights in {tensor_type}", out.len());
    match tensor_type {
        TensorType::F32 => each_value(bytes, out, f32::from_le_bytes),
        TensorType::F16 => each_value(bytes, out, plain::from_f16),
        TensorType::BF16 => each_value(bytes, out, plain::from_bf16),
        TensorType::Q4_0 => each_block(bytes, out, q4_0::dequantize),
        TensorType::Q4_1 => each_block(bytes, out, q4_1::dequantize),
        TensorType::Q5_0 => each_block(bytes, out, q5_0::dequantize),
        TensorType::Q5_1 => each_block(bytes, out, q5_1::dequantize),
        TensorType::Q8_0 => each_block(bytes, out, q8_0::dequantize),
        TensorType::Q2_K => each_block(bytes, out, q2_k::dequantize),
        TensorType::Q3_K => each_block(bytes, out, q3_k::dequantize),
        TensorType::Q4_K => each_block(bytes, out, q4_k::dequantize),
        TensorType::Q5_K => each_block(bytes, out, q5_k::dequantize),
        TensorType::Q6_K => each_block(bytes, out, q6_k::dequantize),
    }
}

fn each_value<const BYTES: usize>(bytes: &[u8], out: &mut [f32], decode: impl Fn([u8; BYTES]) -> f32) {
    for (bytes, x) in bytes.as_chunks().0.iter().zip(out) {
        *x = decode(*bytes);
    }
}

fn each_block<const BYTES: usize, const LEN: usize>(bytes: &[u8], out: &mut [f32], dequantize: impl Fn(&[u8; BYTES], &mut [f32; LEN])) {
    for (block, out) in bytes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        dequantize(block, out);
    }
}

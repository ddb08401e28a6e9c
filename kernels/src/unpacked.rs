//! Unpacked weights, in one form for all integer formats. The integer rung (set of kernels)
//! multiplies them: always for prompts, and for a single row of activations if the format has no
//! dot product.

use tiny_llm_formats::gguf::TensorType;

use crate::{
    blocks::{f16_at, mxfp4, q3_k, six_bits},
    input::{SUM, SUPER_BLOCK},
};

/// [`SUPER_BLOCK`] unpacked weights: weight `i` is
/// `scales[i / 16] · codes[i] − mins[i / 16]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Unpacked {
    /// Signed codes, with the format's offset already subtracted.
    pub codes: [i8; SUPER_BLOCK],
    /// One scale for every 16 weights, which is as many as any format has.
    pub scales: [f32; SUPER_BLOCK / SUM],
    /// Minimums, in the same layout as `scales`. Zeros in formats without minimums.
    pub mins: [f32; SUPER_BLOCK / SUM],
}

impl Default for Unpacked {
    fn default() -> Self {
        Self {
            codes: [0; SUPER_BLOCK],
            scales: [0.0; SUPER_BLOCK / SUM],
            mins: [0.0; SUPER_BLOCK / SUM],
        }
    }
}

/// Unpacks the bytes of one block into block `b` of a super-block.
type Unpack = fn(block: &[u8], super_block: &mut Unpacked, b: usize);

fn unpack(tensor_type: TensorType) -> Option<Unpack> {
    Some(match tensor_type {
        TensorType::F32 | TensorType::F16 | TensorType::BF16 => return None,
        TensorType::Q4_0 => unpack_q4_0,
        TensorType::Q4_1 => unpack_q4_1,
        TensorType::Q5_0 => unpack_q5_0,
        TensorType::Q5_1 => unpack_q5_1,
        TensorType::Q8_0 => unpack_q8_0,
        TensorType::Q2_K => unpack_q2_k,
        TensorType::Q3_K => unpack_q3_k,
        TensorType::Q4_K => unpack_q4_k,
        TensorType::Q5_K => unpack_q5_k,
        TensorType::Q6_K => unpack_q6_k,
        TensorType::MXFP4 => unpack_mxfp4,
    })
}

/// Returns whether a format's weights are integers, so that [`unpack_row`] can unpack them.
pub fn has_integers(tensor_type: TensorType) -> bool {
    unpack(tensor_type).is_some()
}

/// Unpacks a row of blocks to `row [super_blocks]`. The last super-block is padded with zeros.
///
/// # Panics
/// If the format's weights are floats.
pub fn unpack_row(tensor_type: TensorType, bytes: &[u8], row: &mut [Unpacked]) {
    crate::withheld::check("unpacked::unpack_row");
    let unpack = unpack(tensor_type)
        .unwrap_or_else(|| panic!("{tensor_type} cannot be unpacked to integers"));
    let (block_bytes, blocks) = (tensor_type.block_bytes(), SUPER_BLOCK / tensor_type.block_len());
    for (bytes, super_block) in bytes.chunks(blocks * block_bytes).zip(row) {
        *super_block = Unpacked::default();
        for (b, block) in bytes.chunks_exact(block_bytes).enumerate() {
            unpack(block, super_block, b);
        }
    }
}

fn unpack_q8_0(block: &[u8], super_block: &mut Unpacked, b: usize) {
    for (code, &q) in super_block.codes[b * 32..].iter_mut().zip(&block[2..]) {
        *code = q as i8;
    }
    super_block.scales[2 * b..][..2].fill(f16_at(block, 0));
}

fn unpack_q4_0(block: &[u8], super_block: &mut Unpacked, b: usize) {
    for (i, code) in super_block.codes[b * 32..][..32].iter_mut().enumerate() {
        *code = (block[2 + i % 16] >> (i / 16 * 4) & 15) as i8 - 8;
    }
    super_block.scales[2 * b..][..2].fill(f16_at(block, 0));
}

fn unpack_q5_0(block: &[u8], super_block: &mut Unpacked, b: usize) {
    for (i, code) in super_block.codes[b * 32..][..32].iter_mut().enumerate() {
        let fifth = block[2 + i / 8] >> (i % 8) & 1;
        *code = (block[6 + i % 16] >> (i / 16 * 4) & 15 | fifth << 4) as i8 - 16;
    }
    super_block.scales[2 * b..][..2].fill(f16_at(block, 0));
}

fn unpack_q4_k(block: &[u8], super_block: &mut Unpacked, _: usize) {
    for (i, code) in super_block.codes.iter_mut().enumerate() {
        *code = (block[16 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15) as i8;
    }
    set_six_bits(block, super_block);
}

fn unpack_q6_k(block: &[u8], super_block: &mut Unpacked, _: usize) {
    for (i, code) in super_block.codes.iter_mut().enumerate() {
        let (half, within) = (i / 128, i % 128);
        let low = block[half * 64 + within % 64] >> (within / 64 * 4) & 15;
        let upper = block[128 + half * 32 + within % 32] >> (within / 32 * 2) & 3;
        *code = (low | upper << 4) as i8 - 32;
    }
    for s in 0..SUPER_BLOCK / SUM {
        super_block.scales[s] = f16_at(block, 208) * f32::from(block[192 + s] as i8);
    }
}

fn unpack_q4_1(block: &[u8], super_block: &mut Unpacked, b: usize) {
    for (i, code) in super_block.codes[b * 32..][..32].iter_mut().enumerate() {
        *code = (block[4 + i % 16] >> (i / 16 * 4) & 15) as i8;
    }
    super_block.scales[2 * b..][..2].fill(f16_at(block, 0));
    super_block.mins[2 * b..][..2].fill(-f16_at(block, 2));
}

fn unpack_q5_1(block: &[u8], super_block: &mut Unpacked, b: usize) {
    for (i, code) in super_block.codes[b * 32..][..32].iter_mut().enumerate() {
        let fifth = block[4 + i / 8] >> (i % 8) & 1;
        *code = (block[8 + i % 16] >> (i / 16 * 4) & 15 | fifth << 4) as i8;
    }
    super_block.scales[2 * b..][..2].fill(f16_at(block, 0));
    super_block.mins[2 * b..][..2].fill(-f16_at(block, 2));
}

fn unpack_q2_k(block: &[u8], super_block: &mut Unpacked, _: usize) {
    for (i, code) in super_block.codes.iter_mut().enumerate() {
        *code = (block[16 + i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3) as i8;
    }
    for s in 0..SUPER_BLOCK / SUM {
        super_block.scales[s] = f16_at(block, 80) * f32::from(block[s] & 15);
        super_block.mins[s] = f16_at(block, 82) * f32::from(block[s] >> 4);
    }
}

fn unpack_q3_k(block: &[u8], super_block: &mut Unpacked, _: usize) {
    for (i, code) in super_block.codes.iter_mut().enumerate() {
        let low = block[32 + i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
        let third = block[i % 32] >> (i / 32) & 1;
        *code = (low | third << 2) as i8 - 4;
    }
    let scales = q3_k::scales(block[96..108].try_into().expect("12 bytes"));
    for (to, scale) in super_block.scales.iter_mut().zip(scales) {
        *to = f16_at(block, 108) * f32::from(scale);
    }
}

fn unpack_q5_k(block: &[u8], super_block: &mut Unpacked, _: usize) {
    for (i, code) in super_block.codes.iter_mut().enumerate() {
        let low = block[48 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15;
        let fifth = block[16 + i % 32] >> (i / 32) & 1;
        *code = (low | fifth << 4) as i8;
    }
    set_six_bits(block, super_block);
}

fn unpack_mxfp4(block: &[u8], super_block: &mut Unpacked, b: usize) {
    for (i, code) in super_block.codes[b * 32..][..32].iter_mut().enumerate() {
        *code = mxfp4::TWICE[usize::from(block[1 + i % 16] >> (i / 16 * 4) & 15)];
    }
    super_block.scales[2 * b..][..2].fill(mxfp4::half_of_scale(block[0]));
}

/// Unpacks the scales and minimums of a block that begins like a block of Q4_K.
fn set_six_bits(block: &[u8], super_block: &mut Unpacked) {
    let (scales, mins) = six_bits::unpack(block[4..16].try_into().expect("12 bytes"));
    let (scales, mins) = (scales.to_le_bytes(), mins.to_le_bytes());
    for s in 0..SUPER_BLOCK / SUM {
        super_block.scales[s] = f16_at(block, 0) * f32::from(scales[s / 2]);
        super_block.mins[s] = f16_at(block, 2) * f32::from(mins[s / 2]);
    }
}

//! One matrix, one or many rows of activations: matrix–vector (decode) and matrix–matrix (prefill).
//!
//! Against the integer dots: with many rows of activations, taking codes out of their blocks is
//! most of the work, and is the same for all of them. So each weight row is unpacked once, into
//! codes of one byte, and multiplied with every row of activations.

use tiny_llm_formats::gguf::TensorType;

use super::integer;
use crate::week2::{
    blocks::{f16_at, q4_k::scales_and_minimums},
    input::{GROUP, Input, Int8Group, SUM},
    matrix::Matrix,
    parallel::Tile,
};

/// [`GROUP`] weights out of their blocks: weight `i` is `scales[i / 16] · codes[i] − mins[i / 16]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Unpacked {
    /// Signed codes: what a format subtracts from all codes alike is subtracted.
    pub codes: [i8; GROUP],
    /// One for each 16 weights, as in the finest format.
    pub scales: [f32; GROUP / SUM],
    /// As many; zeros in formats without minimums.
    pub mins: [f32; GROUP / SUM],
}

impl Default for Unpacked {
    fn default() -> Self {
        Self { codes: [0; GROUP], scales: [0.0; GROUP / SUM], mins: [0.0; GROUP / SUM] }
    }
}

/// `out[r] = row r · x` for the weight rows that are given: each row is read once.
///
/// `dot` is one of [`integer`]'s; `out [rows]`, `x [groups]`.
pub fn matrix_vector<'a>(
    dot: impl Fn(&[u8], &[Int8Group]) -> f32,
    rows: impl Iterator<Item = &'a [u8]>,
    x: &[Int8Group],
    out: &mut [f32],
) {
    todo!("week2-day5 task 4: matrix_vector")
}

/// `Σ w·x` for a weight row out of its blocks and a row of activations, both of as many groups.
#[must_use]
pub fn dot_unpacked(row: &[Unpacked], x: &[Int8Group]) -> f32 {
    todo!("week2-day5 task 4: dot_unpacked")
}

/// `tile[t, r] = Σ weight[r, c] · x[t, c]` for the tile's rows `t` and columns `r`: each weight row
/// is unpacked once, whatever the number of rows of activations.
///
/// `unpack` takes a row's bytes out of their blocks, into as many groups as a row of `x` has.
pub fn matrix_matrix(
    mut unpack: impl FnMut(&[u8], &mut [Unpacked]),
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    todo!("week2-day5 task 4: matrix_matrix")
}

/// See [`super::Kernel`]; for types that have an [`integer::dot`].
pub fn kernel(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    if tile.rows().len() == 1 {
        let dot = integer::dot(weight.tensor_type).expect("a type with a kernel of this rung");
        let rows = tile.cols().map(|r| weight.row(r));
        let t = tile.rows().start;
        matrix_vector(dot, rows, x.int8_row(t), tile.row_mut(t));
    } else {
        matrix_matrix(|bytes, row| unpack_row(weight.tensor_type, bytes, row), weight, x, tile);
    }
}

/// Takes a row of blocks out of them: `row [groups]`, the last of which is filled up with zeros.
///
/// # Panics
/// If the type has no kernel of this rung.
pub fn unpack_row(tensor_type: TensorType, bytes: &[u8], row: &mut [Unpacked]) {
    let unpack = match tensor_type {
        TensorType::Q8_0 => unpack_q8_0,
        TensorType::Q4_0 => unpack_q4_0,
        TensorType::Q5_0 => unpack_q5_0,
        TensorType::Q4_K => unpack_q4_k,
        TensorType::Q6_K => unpack_q6_k,
        other => panic!("{other} has no kernel of this rung"),
    };
    let (block_bytes, blocks) = (tensor_type.block_bytes(), GROUP / tensor_type.block_len());
    for (bytes, group) in bytes.chunks(blocks * block_bytes).zip(row) {
        *group = Unpacked::default();
        for (b, block) in bytes.chunks_exact(block_bytes).enumerate() {
            unpack(block, group, b);
        }
    }
}

fn unpack_q8_0(block: &[u8], group: &mut Unpacked, b: usize) {
    for (code, &q) in group.codes[b * 32..].iter_mut().zip(&block[2..]) {
        *code = q as i8;
    }
    group.scales[2 * b..][..2].fill(f16_at(block, 0));
}

fn unpack_q4_0(block: &[u8], group: &mut Unpacked, b: usize) {
    for (i, code) in group.codes[b * 32..][..32].iter_mut().enumerate() {
        *code = (block[2 + i % 16] >> (i / 16 * 4) & 15) as i8 - 8;
    }
    group.scales[2 * b..][..2].fill(f16_at(block, 0));
}

fn unpack_q5_0(block: &[u8], group: &mut Unpacked, b: usize) {
    for (i, code) in group.codes[b * 32..][..32].iter_mut().enumerate() {
        let fifth = block[2 + i / 8] >> (i % 8) & 1;
        *code = (block[6 + i % 16] >> (i / 16 * 4) & 15 | fifth << 4) as i8 - 16;
    }
    group.scales[2 * b..][..2].fill(f16_at(block, 0));
}

fn unpack_q4_k(block: &[u8], group: &mut Unpacked, _: usize) {
    let (scales, mins) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
    for (i, code) in group.codes.iter_mut().enumerate() {
        *code = (block[16 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15) as i8;
    }
    for s in 0..GROUP / SUM {
        group.scales[s] = f16_at(block, 0) * f32::from(scales[s / 2]);
        group.mins[s] = f16_at(block, 2) * f32::from(mins[s / 2]);
    }
}

fn unpack_q6_k(block: &[u8], group: &mut Unpacked, _: usize) {
    for (i, code) in group.codes.iter_mut().enumerate() {
        let (half, within) = (i / 128, i % 128);
        let low = block[half * 64 + within % 64] >> (within / 64 * 4) & 15;
        let upper = block[128 + half * 32 + within % 32] >> (within / 32 * 2) & 3;
        *code = (low | upper << 4) as i8 - 32;
    }
    for s in 0..GROUP / SUM {
        group.scales[s] = f16_at(block, 208) * f32::from(block[192 + s] as i8);
    }
}

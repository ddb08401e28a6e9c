//! Week 2, day 5, on fresh inputs.

use half::f16;
use tiny_llm::week2::{
    input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK, quantize_activations},
    kernels::{
        fused, integer,
        unpacked::{Unpacked, dot_unpacked, matrix_matrix, matrix_vector},
    },
    matrix::Matrix,
    parallel::{Team, Tile},
};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::fresh::Fresh;
use tiny_llm_kernels::withheld::withhold;

use super::products::input;

const TYPES: [TensorType; 3] = [TensorType::Q4_0, TensorType::Q4_K, TensorType::Q6_K];

/// Returns `n` blocks with random codes and finite scales.
fn blocks(fresh: &Fresh, tensor_type: TensorType, n: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..n {
        let mut block = fresh.bytes(tensor_type.block_bytes());
        let places: &[usize] = match tensor_type {
            TensorType::Q4_K => &[0, 2],
            TensorType::Q6_K => &[208],
            _ => &[0],
        };
        for &at in places {
            block[at..at + 2].copy_from_slice(&f16::from_f32(0.01 * fresh.f32()).to_le_bytes());
        }
        bytes.extend(block);
    }
    bytes
}

fn super_block(fresh: &Fresh, shared: bool) -> Int8SuperBlock {
    let values: [i8; SUPER_BLOCK] = std::array::from_fn(|_| fresh.below(255) as i8);
    let sum = |s: usize| values[s * SUM..][..SUM].iter().map(|&q| i16::from(q)).sum();
    let one = 0.01 * fresh.f32();
    let scales = std::array::from_fn(|_| if shared { one } else { 0.01 * fresh.f32() });
    Int8SuperBlock { values, sums: std::array::from_fn(sum), scales }
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week2-day5 task 1");
    withhold();
    for (tensor_type, dot) in
        TYPES.into_iter().zip([fused::dot_q4_0, fused::dot_q4_k, fused::dot_q6_k])
    {
        let n = fresh.from_to(1, 4);
        let row = blocks(&fresh, tensor_type, n);
        let x = fresh.f32s(n * tensor_type.block_len());
        fresh.answers(&format!("{tensor_type}"), &[dot(&row, &x)], 2e-2);
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week2-day5 task 2");
    withhold();
    for per_scale in [BLOCK, SUPER_BLOCK] {
        let x = fresh.f32s(32 * fresh.from_to(3, 20));
        let mut super_blocks = vec![Int8SuperBlock::default(); x.len().div_ceil(SUPER_BLOCK)];
        quantize_activations(&x, per_scale, &mut super_blocks);
        let values: Vec<f32> = super_blocks.iter().flat_map(|g| g.values.map(f32::from)).collect();
        // Half-way between two integers, either one is allowed, which may change a sum.
        fresh.answers("values", &values, 1.0);
        let scales: Vec<f32> = super_blocks.iter().flat_map(|g| g.scales).collect();
        fresh.answers("scales", &scales, 1e-6);
        let sums: Vec<f32> = super_blocks.iter().flat_map(|g| g.sums.map(f32::from)).collect();
        fresh.answers("sums", &sums, 2.0);
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week2-day5 task 3");
    withhold();
    for (tensor_type, dot) in
        TYPES.into_iter().zip([integer::dot_q4_0, integer::dot_q4_k, integer::dot_q6_k])
    {
        let super_blocks = fresh.from_to(1, 3);
        let row = blocks(&fresh, tensor_type, super_blocks * SUPER_BLOCK / tensor_type.block_len());
        let shared = tensor_type.block_len() == SUPER_BLOCK;
        let x: Vec<Int8SuperBlock> =
            (0..super_blocks).map(|_| super_block(&fresh, shared)).collect();
        fresh.answers(&format!("{tensor_type}"), &[dot(&row, &x)], 2e-2);
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week2-day5 task 4");
    withhold();
    let (rows, tokens) = (fresh.from_to(3, 7), fresh.from_to(2, 5));
    let unpacked = |fresh: &Fresh| Unpacked {
        codes: std::array::from_fn(|_| fresh.below(255) as i8),
        scales: std::array::from_fn(|_| 0.01 * fresh.f32()),
        mins: std::array::from_fn(|_| 0.01 * fresh.f32()),
    };
    let row = [unpacked(&fresh), unpacked(&fresh)];
    let x = [super_block(&fresh, false), super_block(&fresh, false)];
    fresh.answers("unpacked", &[dot_unpacked(&row, &x)], 2e-2);

    let bytes = blocks(&fresh, TensorType::Q8_0, rows * 8);
    let weight =
        Matrix::new(rows, SUPER_BLOCK, TensorType::Q8_0, bytes.into()).expect("whole blocks");
    let int8: Vec<Int8SuperBlock> = (0..tokens).map(|_| super_block(&fresh, false)).collect();
    let x = input(tokens, SUPER_BLOCK, int8);
    let mut out = vec![1000.0; rows];
    // Uses its own dot product, because only the pairing of rows and activations is tested.
    let dot = |row: &[u8], x: &[Int8SuperBlock]| f32::from(row[3]) * f32::from(x[0].values[5]);
    matrix_vector(dot, (0..rows).map(|r| weight.row(r)), x.int8_row(1), &mut out);
    fresh.answers("matrix-vector", &out, 1e-3);
    let unpack = |bytes: &[u8], row: &mut [Unpacked]| {
        row.fill(Unpacked::default());
        for (i, code) in row[0].codes.iter_mut().enumerate() {
            *code = bytes[i / 32 * 34 + 2 + i % 32] as i8;
        }
        row[0].scales.fill(0.01);
    };
    let mut out = vec![1000.0; tokens * rows];
    Team::new(1).parallel_tiles(&mut out, rows, (2, 3), |tile: &mut Tile<'_, f32>| {
        matrix_matrix(unpack, &weight, &x, tile);
    });
    fresh.answers("matrix-matrix", &out, 2e-2);
}

//! Week 2, day 6, on fresh inputs.

use std::sync::{Mutex, atomic::AtomicUsize};

use half::f16;
use tiny_llm::week2::{
    input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK},
    kernels::{Rung, matmul},
    matrix::Matrix,
    parallel::{Grid, Team, take_tiles},
};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::fresh::Fresh;

use super::products::input;

/// Compares products of a matrix of random codes with one row of activations.
fn products(fresh: &Fresh, rung: Rung, tensor_type: TensorType, places: &[usize]) {
    if !rung.is_available() {
        // The task's own tests then fail or are ignored, and nothing can be compared.
        return fresh.says("the instructions are here", &(false, fresh.u64()));
    }
    for super_blocks in [1, fresh.from_to(2, 3)] {
        let (rows, cols) = (fresh.from_to(3, 9), super_blocks * SUPER_BLOCK);
        let mut bytes = Vec::new();
        for _ in 0..rows * cols / tensor_type.block_len() {
            let mut block = fresh.bytes(tensor_type.block_bytes());
            for &at in places {
                let scale = f16::from_f32(0.01 * fresh.f32());
                block[at..at + 2].copy_from_slice(&scale.to_le_bytes());
            }
            bytes.extend(block);
        }
        let weight = Matrix::new(rows, cols, tensor_type, bytes.into()).expect("whole blocks");
        let int8 = (0..super_blocks).map(|_| {
            let values: [i8; SUPER_BLOCK] =
                std::array::from_fn(|_| (fresh.below(255) as i16 - 127) as i8);
            let sum = |s: usize| values[s * SUM..][..SUM].iter().map(|&q| i16::from(q)).sum();
            let shared = 0.01 * fresh.f32();
            let each = tensor_type.block_len() == BLOCK;
            let scales = std::array::from_fn(|_| if each { 0.01 * fresh.f32() } else { shared });
            Int8SuperBlock { values, sums: std::array::from_fn(sum), scales }
        });
        let int8 = int8.collect();
        let x = input(1, cols, int8);
        let x = x.with_int8(tensor_type.block_len());
        let mut out = vec![0.0; rows];
        matmul(rung, &Team::new(1), &weight, x, &mut out);
        fresh.answers("products", &out, 2e-2);
    }
}

#[test]
fn task_1() {
    products(&Fresh::new("week2-day6 task 1"), Rung::Avx2, TensorType::Q8_0, &[0]);
}

#[test]
fn task_2() {
    products(&Fresh::new("week2-day6 task 2"), Rung::Avx2, TensorType::Q4_K, &[0, 2]);
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week2-day6 task 3");
    for _ in 0..6 {
        let grid = Grid {
            rows: fresh.from_to(1, 9),
            width: fresh.from_to(1, 30),
            tile: (fresh.from_to(1, 4), fresh.from_to(1, 9)),
        };
        fresh.says("tiles", &grid.count());
        let down = grid.rows.div_ceil(grid.tile.0);
        let all = down * grid.width.div_ceil(grid.tile.1);
        fresh.says("a tile", &grid.tile(fresh.below(all)));
        let next = AtomicUsize::new(fresh.below(all));
        let taken = Mutex::new(Vec::new());
        take_tiles(&next, &grid, |tile| taken.lock().expect("nobody panics").push(tile));
        fresh.says("taken", &taken.into_inner().expect("nobody panicked"));
    }
}

#[test]
fn task_4() {
    products(&Fresh::new("week2-day6 task 4"), Rung::Neon, TensorType::Q8_0, &[0]);
}

#[test]
fn task_5() {
    products(&Fresh::new("week2-day6 task 5"), Rung::Neon, TensorType::Q4_K, &[0, 2]);
}

//! Week 2, day 6: 256-bit dot products, and rows distributed over threads.
//!
//! Expected values: `python-ref/oracle/week2_day6.py`.

#[path = "week2_day6/task_3.rs"]
mod task_3;

use std::{
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use tiny_llm::week2::{
    input::{BLOCK, Int8SuperBlock, SUPER_BLOCK},
    kernels::{Rung, matmul},
    matrix::Matrix,
    parallel::{Counter, Grid, Team, take_tiles},
};
use tiny_llm_formats::{gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, assert_picture},
    fixtures::Fixtures,
};

#[path = "parts/products.rs"]
mod products;
#[path = "week2_day6/task_3_drawn.rs"]
mod task_3_drawn;

use products::{check_activations, check_parts, input, super_blocks};

// Tasks 1 and 2 use instructions of x86-64 processors, tasks 4 and 5 those of 64-bit Arm. On
// another processor their tests are ignored, and `cargo course test week2-day6 4` runs them under
// emulation. On an x86-64 processor without AVX2 they cannot be verified, and fail.

#[track_caller]
fn check(rung: Rung, case: &str, tensor_type: TensorType) {
    assert!(
        rung.is_available(),
        "not verified: this machine's processor lacks {rung}, which these kernels need"
    );
    let file = if rung == Rung::Neon { "week2_day6_aarch64" } else { "week2_day6" };
    let case = Fixtures::open(file).case(case);
    let rows = case.integers("rows");
    let (n, size) = (rows.shape()[0], rows.shape()[1]);
    let cols = size / tensor_type.block_bytes() * tensor_type.block_len();
    let weight =
        Matrix::new(n, cols, tensor_type, case.bytes("rows").into()).expect("whole blocks");
    let int8 = super_blocks(&case.numbers("values"), &case.numbers("scales"));
    let x = input(1, cols, int8);
    let x = x.with_int8(tensor_type.block_len());
    let mut out = vec![0.0; n];
    matmul(rung, &Team::new(1), &weight, x, &mut out);
    case.check("products", &tensor(&[n], out));
}

/// Checks rows and activations with zeros anywhere, and rows with any number of blocks.
#[track_caller]
fn check_zeros_and_parts(rung: Rung, case: &str, tensor_type: TensorType) {
    check(rung, case, tensor_type);
    let file = if rung == Rung::Neon { "week2_day6_aarch64" } else { "week2_day6" };
    let case = Fixtures::open(file).case(case);
    let row = &case.bytes("rows")[..case.integers("rows").shape()[1]];
    let team = Team::new(1);
    let product = |row: &[u8], int8: &[Int8SuperBlock]| {
        let cols = row.len() / tensor_type.block_bytes() * tensor_type.block_len();
        let weight = Matrix::new(1, cols, tensor_type, row.to_vec().into()).expect("whole blocks");
        let int8 = int8[..cols.div_ceil(SUPER_BLOCK)].to_vec();
        let x = input(1, cols, int8);
        let mut out = [1000.0];
        matmul(rung, &team, &weight, x.with_int8(tensor_type.block_len()), &mut out);
        out[0]
    };
    let what = format!("the product of a row in {tensor_type} with {rung}");
    let blocks = row.len() / tensor_type.block_bytes();
    for n in [1, 2, 3, 5, 7, 8, 9, 12, 17].into_iter().filter(|&n| n < blocks) {
        let row = &row[..n * tensor_type.block_bytes()];
        check_activations(&what, tensor_type, row, product);
    }
    let x = super_blocks(&case.numbers("values"), &case.numbers("scales"));
    check_parts(&what, tensor_type, row, |row| product(row, &x));
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_1_q8_0_is_additive_over_parts() {
    check_zeros_and_parts(Rung::Avx2, "task_1_q8_0/rows", TensorType::Q8_0);
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_2_q4_k_is_additive_over_parts() {
    check_zeros_and_parts(Rung::Avx2, "task_2_q4_k/rows", TensorType::Q4_K);
}

#[test]
#[cfg_attr(not(target_arch = "aarch64"), ignore = "for 64-bit Arm")]
fn task_4_q8_0_is_additive_over_parts() {
    check_zeros_and_parts(Rung::Neon, "task_4_q8_0/rows", TensorType::Q8_0);
}

#[test]
#[cfg_attr(not(target_arch = "aarch64"), ignore = "for 64-bit Arm")]
fn task_5_q4_k_is_additive_over_parts() {
    check_zeros_and_parts(Rung::Neon, "task_5_q4_k/rows", TensorType::Q4_K);
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_1_q8_0_rows() {
    check(Rung::Avx2, "task_1_q8_0/rows", TensorType::Q8_0);
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_1_q8_0_one_block() {
    check(Rung::Avx2, "task_1_q8_0/one_block", TensorType::Q8_0);
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_1_q8_0_extreme_values() {
    check(Rung::Avx2, "task_1_q8_0/extremes", TensorType::Q8_0);
}

/// Checks activations that are NaN or infinite. Their scale is NaN. Their integers don't matter.
#[track_caller]
fn check_scale_of_nan(rung: Rung) {
    assert!(
        rung.is_available(),
        "not verified: this machine's processor lacks {rung}, which these kernels need"
    );
    let row = [[0x00u8, 0x3c].as_slice(), &[1; 32]].concat().repeat(16);
    let weight = Matrix::new(1, 2 * SUPER_BLOCK, TensorType::Q8_0, row.into()).expect("blocks");
    for nan in 0..16 {
        for integer in [2.0, 0.0] {
            let mut values = [2.0f32; 2 * SUPER_BLOCK];
            let mut scales = [0.5f32; 2 * SUPER_BLOCK / BLOCK];
            values[nan * BLOCK..][..BLOCK].fill(integer);
            scales[nan] = f32::NAN;
            let x = input(1, 2 * SUPER_BLOCK, super_blocks(&values, &scales));
            let mut out = [1000.0f32];
            matmul(rung, &Team::new(1), &weight, x.with_int8(BLOCK), &mut out);
            assert!(
                out[0].is_nan(),
                "product of 16 blocks of Q8_0 with weights of 1, where the activations of block \
                 {nan} have a scale of NaN and integers of {integer}: found {}, expected NaN: \
                 a scale of NaN says that an activation is NaN or infinite, and the product must \
                 show it",
                out[0]
            );
        }
    }
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_1_q8_0_propagates_nan_scale() {
    check_scale_of_nan(Rung::Avx2);
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_2_q4_k_rows() {
    check(Rung::Avx2, "task_2_q4_k/rows", TensorType::Q4_K);
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_2_q4_k_one_block() {
    check(Rung::Avx2, "task_2_q4_k/one_block", TensorType::Q4_K);
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "for x86-64")]
fn task_2_q4_k_extreme_values() {
    check(Rung::Avx2, "task_2_q4_k/extremes", TensorType::Q4_K);
}

#[test]
#[cfg_attr(not(target_arch = "aarch64"), ignore = "for 64-bit Arm")]
fn task_4_q8_0_rows() {
    check(Rung::Neon, "task_4_q8_0/rows", TensorType::Q8_0);
}

#[test]
#[cfg_attr(not(target_arch = "aarch64"), ignore = "for 64-bit Arm")]
fn task_4_q8_0_one_block() {
    check(Rung::Neon, "task_4_q8_0/one_block", TensorType::Q8_0);
}

#[test]
#[cfg_attr(not(target_arch = "aarch64"), ignore = "for 64-bit Arm")]
fn task_4_q8_0_extreme_values() {
    check(Rung::Neon, "task_4_q8_0/extremes", TensorType::Q8_0);
}

#[test]
#[cfg_attr(not(target_arch = "aarch64"), ignore = "for 64-bit Arm")]
fn task_5_q4_k_rows() {
    check(Rung::Neon, "task_5_q4_k/rows", TensorType::Q4_K);
}

#[test]
#[cfg_attr(not(target_arch = "aarch64"), ignore = "for 64-bit Arm")]
fn task_5_q4_k_one_block() {
    check(Rung::Neon, "task_5_q4_k/one_block", TensorType::Q4_K);
}

#[test]
#[cfg_attr(not(target_arch = "aarch64"), ignore = "for 64-bit Arm")]
fn task_5_q4_k_extreme_values() {
    check(Rung::Neon, "task_5_q4_k/extremes", TensorType::Q4_K);
}

// Task 3: rows distributed over threads

/// Rows and columns of an output, and the rows and columns of a tile.
type Cut = (usize, usize, (usize, usize));

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day6.rs"]
mod fresh;

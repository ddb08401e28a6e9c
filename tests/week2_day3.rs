//! Week 2, day 3: blocks of 32 weights in Q8_0, Q4_0 and Q5_0, and the error of a format.
//!
//! Expected values: `python-ref/oracle/week2_day3.py`, which takes them from the `gguf` package.

#[path = "week2_day3/task_4.rs"]
mod task_4;

use std::path::Path;

use tiny_llm::week2::blocks::{
    dequantize_row,
    error::{relative_error, rms_error, round_trip_error},
    f16_at, q4_0, q5_0, q8_0, quantize_row,
};
use tiny_llm_formats::{
    Tensor,
    checkpoint::{Checkpoint, Dtype},
    gguf::TensorType,
    tensor::tensor,
};
use tiny_llm_harness::{
    check::{Part, assert_close_because, resting_on},
    fixtures::{Case, Fixtures},
};

#[path = "week2_day3/edges.rs"]
mod edges;

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day3")
}

/// Dequantizes the blocks of a case, and compares the weights. Unwritten weights stay NaN.
#[track_caller]
fn check_dequantize<const BYTES: usize>(
    case: &str,
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; 32]),
) {
    let case = fixtures().case(case);
    let blocks: Vec<u8> = case.integers("blocks").iter().map(|&byte| byte as u8).collect();
    let (blocks, rest) = blocks.as_chunks::<BYTES>();
    assert!(rest.is_empty(), "the fixture has whole blocks");
    let mut weights = Vec::new();
    for block in blocks {
        let mut out = [f32::NAN; 32];
        dequantize(block, &mut out);
        weights.extend(out);
    }
    case.check("weights", &tensor(&[blocks.len(), 32], weights));
}

/// Quantizes the weights of a case, and compares scales and integers with those of the oracle.
/// `integer(block, i)` returns the integer of weight `i`.
#[track_caller]
fn check_quantize<const BYTES: usize>(
    case: &str,
    quantize: impl Fn(&[f32; 32]) -> [u8; BYTES],
    integer: impl Fn(&[u8], usize) -> f32,
) {
    let case = fixtures().case(case);
    let x: Vec<f32> = case.tensor("x").iter().copied().collect();
    let blocks: Vec<[u8; BYTES]> = x.as_chunks().0.iter().map(quantize).collect();
    case.check(
        "scale",
        &tensor(&[blocks.len()], blocks.iter().map(|block| f16_at(block, 0)).collect()),
    );
    let integers = blocks
        .iter()
        .flat_map(|block| (0..32).map(|i| integer(block, i)).collect::<Vec<_>>())
        .collect();
    case.check("integers", &tensor(&[blocks.len(), 32], integers));
}

/// Returns the four bits of weight `i`, which are in the last 16 bytes of a block.
fn four_bits(block: &[u8], i: usize) -> u8 {
    block[block.len() - 16 + i % 16] >> (i / 16 * 4) & 15
}

// Task 1: Q8_0

#[test]
fn task_1_dequantize_q8_0_of_integer_weights() {
    check_dequantize("task_1_dequantize/whole", q8_0::dequantize);
}

#[test]
fn task_1_dequantize_q8_0_of_random_bytes() {
    check_dequantize("task_1_dequantize/random", q8_0::dequantize);
}

#[test]
fn task_1_dequantize_q8_0_of_model_weights() {
    check_dequantize("task_1_dequantize/model", q8_0::dequantize);
}

#[track_caller]
fn check_q8_0(case: &str) {
    check_quantize(&format!("task_1_quantize/{case}"), q8_0::quantize, |block, i| {
        f32::from(block[2 + i] as i8)
    });
}

#[test]
fn task_1_quantize_q8_0_of_ordinary_weights() {
    check_q8_0("ordinary");
}

#[test]
fn task_1_quantize_q8_0_of_halfway_values() {
    check_q8_0("between");
}

#[test]
fn task_1_quantize_q8_0_uses_unrounded_scale() {
    check_q8_0("near");
}

#[test]
fn task_1_quantize_q8_0_of_zeros_and_tiny_weights() {
    check_q8_0("little");
}

#[test]
fn task_1_quantize_q8_0_of_model_weights() {
    check_q8_0("model");
}

#[test]
fn task_1_quantize_q8_0_multiplies_by_inverse_scale_in_f32() {
    check_q8_0("prescribed");
}

// Task 2: Q4_0

#[test]
fn task_2_dequantize_q4_0_of_integer_weights() {
    check_dequantize("task_2_dequantize/whole", q4_0::dequantize);
}

#[test]
fn task_2_dequantize_q4_0_of_random_bytes() {
    check_dequantize("task_2_dequantize/random", q4_0::dequantize);
}

#[test]
fn task_2_dequantize_q4_0_of_model_weights() {
    check_dequantize("task_2_dequantize/model", q4_0::dequantize);
}

#[track_caller]
fn check_q4_0(case: &str) {
    check_quantize(&format!("task_2_quantize/{case}"), q4_0::quantize, |block, i| {
        f32::from(four_bits(block, i))
    });
}

#[test]
fn task_2_quantize_q4_0_of_ordinary_weights() {
    check_q4_0("ordinary");
}

#[test]
fn task_2_quantize_q4_0_of_halfway_values() {
    check_q4_0("between");
}

#[test]
fn task_2_quantize_q4_0_uses_unrounded_scale() {
    check_q4_0("near");
}

#[test]
fn task_2_quantize_q4_0_of_zeros_and_tiny_weights() {
    check_q4_0("little");
}

#[test]
fn task_2_quantize_q4_0_of_model_weights() {
    check_q4_0("model");
}

#[test]
fn task_2_quantize_q4_0_multiplies_by_inverse_scale_in_f32() {
    check_q4_0("prescribed");
}

// Task 3: Q5_0

#[test]
fn task_3_dequantize_q5_0_of_integer_weights() {
    check_dequantize("task_3_dequantize/whole", q5_0::dequantize);
}

#[test]
fn task_3_dequantize_q5_0_of_random_bytes() {
    check_dequantize("task_3_dequantize/random", q5_0::dequantize);
}

#[test]
fn task_3_dequantize_q5_0_of_model_weights() {
    check_dequantize("task_3_dequantize/model", q5_0::dequantize);
}

#[track_caller]
fn check_q5_0(case: &str) {
    let fifth = |block: &[u8], i: usize| block[2 + i / 8] >> (i % 8) & 1;
    check_quantize(&format!("task_3_quantize/{case}"), q5_0::quantize, |block, i| {
        f32::from(four_bits(block, i) + 16 * fifth(block, i))
    });
}

#[test]
fn task_3_quantize_q5_0_of_ordinary_weights() {
    check_q5_0("ordinary");
}

#[test]
fn task_3_quantize_q5_0_of_halfway_values() {
    check_q5_0("between");
}

#[test]
fn task_3_quantize_q5_0_uses_unrounded_scale() {
    check_q5_0("near");
}

#[test]
fn task_3_quantize_q5_0_of_zeros_and_tiny_weights() {
    check_q5_0("little");
}

#[test]
fn task_3_quantize_q5_0_of_model_weights() {
    check_q5_0("model");
}

#[test]
fn task_3_quantize_q5_0_multiplies_by_inverse_scale_in_f32() {
    check_q5_0("prescribed");
}

// Task 4: the error

/// Checks 31 equal weights and a largest one, at any index. The scale is exact, so all weights must
/// come back unchanged. The scale can be any power of two.
#[track_caller]
fn check_largest<const BYTES: usize>(
    largest: f32,
    quantize: impl Fn(&[f32; 32]) -> [u8; BYTES],
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; 32]),
) {
    for power in [0, -12, -20, 8] {
        for i in 0..32 {
            let unit = 2f32.powi(power);
            let mut x = [unit; 32];
            x[i] = largest * unit;
            let mut back = [f32::NAN; 32];
            dequantize(&quantize(&x), &mut back);
            assert!(
                back == x,
                "31 weights of {unit:?} and weight {i} of {:?} come back as {back:?}, expected the \
                 same weights: the scale is {unit:?}, every weight is a multiple of it, and the \
                 largest may be at any index",
                x[i]
            );
        }
    }
}

#[test]
fn task_1_quantize_q8_0_with_largest_weight_at_any_index() {
    check_largest(127.0, q8_0::quantize, q8_0::dequantize);
    check_largest(-127.0, q8_0::quantize, q8_0::dequantize);
}

#[test]
fn task_2_quantize_q4_0_with_largest_weight_at_any_index() {
    check_largest(-8.0, q4_0::quantize, q4_0::dequantize);
}

#[test]
fn task_3_quantize_q5_0_with_largest_weight_at_any_index() {
    check_largest(-16.0, q5_0::quantize, q5_0::dequantize);
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day3.rs"]
mod fresh;

//! Week 2, day 4, task 2: q6_K.

use tiny_llm::week2::blocks::{f16_at, q6_k};
use tiny_llm_formats::tensor::tensor;

use super::{check_dequantize, check_errors, fixtures, is_nearest, of_bytes, rows};

#[track_caller]
fn check_q6_k(case: &str) {
    check_dequantize(&format!("task_2_dequantize/{case}"), q6_k::dequantize);
}

#[test]
fn task_2_dequantize_q6_k_of_integer_weights() {
    check_q6_k("whole");
}

#[test]
fn task_2_dequantize_q6_k_of_random_bytes() {
    check_q6_k("random");
}

#[test]
fn task_2_dequantize_q6_k_of_model_weights() {
    check_q6_k("model");
}

/// Returns the integers of a block, 0 to 63.
fn q6_k_integers(block: &[u8]) -> [u8; 256] {
    std::array::from_fn(|i| {
        let (half, i) = (i / 128, i % 128);
        let low = block[64 * half + i % 64] >> (i / 64 * 4) & 15;
        low | (block[128 + 32 * half + i % 32] >> (i / 32 * 2) & 3) << 4
    })
}

pub(super) fn decode_q6_k(block: &[u8; q6_k::BYTES]) -> [f32; 256] {
    let (integers, d) = (q6_k_integers(block), f16_at(block, 208));
    std::array::from_fn(|i| {
        d * f32::from(block[192 + i / 16] as i8) * (f32::from(integers[i]) - 32.0)
    })
}

#[test]
fn task_2_quantize_q6_k_of_representable_weights() {
    let case = fixtures().case("task_2_quantize/exact");
    let blocks: Vec<_> = rows(&case.tensor("x")).iter().map(q6_k::quantize).collect();
    let n = blocks.len();
    case.check("d", &tensor(&[n], blocks.iter().map(|block| f16_at(block, 208)).collect()));
    case.check(
        "scales",
        &tensor(
            &[n, 16],
            blocks
                .iter()
                .flat_map(|block| &block[192..208])
                .map(|&byte| f32::from(byte as i8))
                .collect(),
        ),
    );
    case.check(
        "integers",
        &of_bytes(
            &[n, 256],
            blocks.iter().map(|block| q6_k_integers(block)).collect::<Vec<_>>().as_flattened(),
        ),
    );
}

#[test]
fn task_2_quantize_q6_k_error_within_2_percent_of_llama_cpp() {
    check_errors("task_2_quantize/errors", q6_k::quantize, decode_q6_k);
}

#[test]
fn task_2_quantize_q6_k_uses_stored_scales() {
    let x = fixtures().case("task_2_quantize/errors").tensor("heavy_tails");
    for row in rows::<256>(&x) {
        let block = q6_k::quantize(&row);
        let (back, d) = (decode_q6_k(&block), f16_at(&block, 208));
        for i in 0..256 {
            let scale = d * f32::from(block[192 + i / 16] as i8);
            is_nearest("scale", i, [row[i], back[i]], scale, [-32.0 * scale, 31.0 * scale]);
        }
    }
}

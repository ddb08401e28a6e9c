//! Week 2, day 4, task 4: writing Q4_K.

use tiny_llm::week2::blocks::{error::relative_error, f16_at, q4_k};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::fixtures::Fixtures;

use super::{bytes, check_errors, check_scales, fixtures, is_nearest, of_bytes, rows};

#[test]
fn task_4_pack_scales_and_minimums() {
    check_pack(&fixtures());
}

#[track_caller]
fn check_pack(fixtures: &Fixtures) {
    let case = fixtures.case("task_4_pack/distinct");
    let (scales, minimums) = (bytes::<8>(&case, "scales"), bytes::<8>(&case, "minimums"));
    let packed: Vec<_> = scales
        .iter()
        .zip(&minimums)
        .map(|(scales, minimums)| q4_k::pack_scales_and_minimums(scales, minimums))
        .collect();
    case.check("packed", &of_bytes(&[packed.len(), 12], packed.as_flattened()));
}

/// Returns the 6-bit scales and minimums of a block, unpacked here, so that task 1 is not needed.
pub(super) fn six_bits(block: &[u8]) -> ([u8; 8], [u8; 8]) {
    let s = &block[4..16];
    let at = |j: usize, first: usize, shift: usize| {
        if j < 4 { s[first + j] & 63 } else { s[4 + j] >> shift & 15 | s[first + j - 4] >> 6 << 4 }
    };
    (std::array::from_fn(|j| at(j, 0, 0)), std::array::from_fn(|j| at(j, 4, 4)))
}

fn q4_k_integers(block: &[u8]) -> [u8; 256] {
    std::array::from_fn(|i| block[16 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15)
}

/// Returns the scale and minimum of weight `i`.
fn q4_k_scale(block: &[u8], i: usize) -> (f32, f32) {
    let (scales, minimums) = six_bits(block);
    (f16_at(block, 0) * f32::from(scales[i / 32]), f16_at(block, 2) * f32::from(minimums[i / 32]))
}

pub(super) fn decode_q4_k(block: &[u8; q4_k::BYTES]) -> [f32; 256] {
    let integers = q4_k_integers(block);
    std::array::from_fn(|i| {
        let (scale, minimum) = q4_k_scale(block, i);
        scale * f32::from(integers[i]) - minimum
    })
}

#[test]
fn task_4_quantize_q4_k_of_representable_weights() {
    let fixtures = fixtures();
    check_pack(&fixtures);
    let case = fixtures.case("task_4_quantize/exact");
    let blocks: Vec<_> = rows(&case.tensor("x")).iter().map(q4_k::quantize).collect();
    let n = blocks.len();
    case.check("d", &tensor(&[n], blocks.iter().map(|block| f16_at(block, 0)).collect()));
    case.check("dmin", &tensor(&[n], blocks.iter().map(|block| f16_at(block, 2)).collect()));
    let (scales, minimums): (Vec<_>, Vec<_>) = blocks.iter().map(|block| six_bits(block)).unzip();
    case.check("scales", &of_bytes(&[n, 8], scales.as_flattened()));
    case.check("minimums", &of_bytes(&[n, 8], minimums.as_flattened()));
    case.check(
        "integers",
        &of_bytes(
            &[n, 256],
            blocks.iter().map(|block| q4_k_integers(block)).collect::<Vec<_>>().as_flattened(),
        ),
    );
}

#[test]
fn task_4_quantize_q4_k_of_constant_blocks() {
    let fixtures = fixtures();
    check_pack(&fixtures);
    let case = fixtures.case("task_4_quantize/constant");
    let blocks: Vec<_> = rows(&case.tensor("x")).iter().map(q4_k::quantize).collect();
    case.check(
        "weights",
        &tensor(&[blocks.len(), 256], blocks.iter().flat_map(decode_q4_k).collect()),
    );
}

#[test]
fn task_4_quantize_q4_k_error_within_2_percent_of_llama_cpp() {
    check_pack(&fixtures());
    check_errors("task_4_quantize/errors", q4_k::quantize, decode_q4_k);
}

#[test]
fn task_4_quantize_q4_k_uses_stored_scales() {
    let fixtures = fixtures();
    check_pack(&fixtures);
    let x = fixtures.case("task_4_quantize/errors").tensor("heavy_tails");
    for row in rows::<256>(&x) {
        let block = q4_k::quantize(&row);
        let back = decode_q4_k(&block);
        for i in 0..256 {
            let (scale, minimum) = q4_k_scale(&block, i);
            is_nearest(
                "scale and minimum",
                i,
                [row[i], back[i]],
                scale,
                [-minimum, 15.0 * scale - minimum],
            );
        }
    }
}

#[test]
fn task_4_quantize_then_dequantize_q4_k() {
    let fixtures = fixtures();
    check_pack(&fixtures);
    check_scales(&fixtures);
    let x = fixtures.case("task_4_quantize/errors").tensor("model");
    for row in rows::<256>(&x) {
        let block = q4_k::quantize(&row);
        let mut back = [f32::NAN; 256];
        q4_k::dequantize(&block, &mut back);
        let error = relative_error(&row, &back);
        assert!(
            error < 0.1,
            "a block of the embedded model, quantized and dequantized, has an error of {error:.3}, \
             expected about 0.075"
        );
    }
}

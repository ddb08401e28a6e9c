//! Week 2, day 5, task 2: activations as integers.

use tiny_llm::week2::input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK, quantize_activations};
use tiny_llm_formats::tensor::tensor;

use super::fixtures;

/// Returns super-blocks that contain numbers left from an earlier use.
pub(super) fn used(super_blocks: usize) -> Vec<Int8SuperBlock> {
    vec![
        Int8SuperBlock {
            values: [99; SUPER_BLOCK],
            sums: [99 * 16; SUPER_BLOCK / SUM],
            scales: [99.0; SUPER_BLOCK / BLOCK]
        };
        super_blocks
    ]
}

#[track_caller]
fn check_quantize(name: &str, per_scale: usize) {
    let case = fixtures().case(&format!("task_2_quantize/{name}"));
    let x = case.numbers("x");
    let mut super_blocks = used(x.len().div_ceil(SUPER_BLOCK));
    quantize_activations(&x, per_scale, &mut super_blocks);
    let values = super_blocks.iter().flat_map(|super_block| super_block.values.map(f32::from));
    case.check("values", &tensor(&[super_blocks.len(), SUPER_BLOCK], values.collect()));
    let scales = super_blocks.iter().flat_map(|super_block| super_block.scales);
    case.check("scales", &tensor(&[super_blocks.len(), SUPER_BLOCK / BLOCK], scales.collect()));
    let sums = super_blocks.iter().flat_map(|super_block| super_block.sums.map(f32::from));
    case.check("sums", &tensor(&[super_blocks.len(), SUPER_BLOCK / SUM], sums.collect()));
}

#[test]
fn task_2_row_of_960() {
    check_quantize("row", SUPER_BLOCK);
}

#[test]
fn task_2_largest_magnitude_is_negative() {
    check_quantize("negative", SUPER_BLOCK);
}

#[test]
fn task_2_row_shorter_than_super_block() {
    check_quantize("short", SUPER_BLOCK);
}

#[test]
fn task_2_super_block_of_zeros() {
    check_quantize("zeros", SUPER_BLOCK);
}

#[test]
fn task_2_one_scale_per_32_values() {
    check_quantize("blocks", BLOCK);
}

#[test]
fn task_2_scale_is_nan_if_a_value_is_not_finite() {
    let cols = SUPER_BLOCK + 40;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for (per_scale, at) in
            [BLOCK, SUPER_BLOCK].iter().flat_map(|&n| [0, 33, 255, 256, cols - 1].map(|at| (n, at)))
        {
            let mut x: Vec<f32> = (0..cols).map(|i| (i % 7) as f32 - 3.0).collect();
            x[at] = bad;
            let mut super_blocks = used(2);
            quantize_activations(&x, per_scale, &mut super_blocks);
            let scales = super_blocks.iter().flat_map(|super_block| super_block.scales);
            let found: Vec<bool> = scales.map(f32::is_nan).collect();
            let part = at / per_scale * per_scale / BLOCK;
            let expected: Vec<bool> =
                (0..found.len()).map(|b| (part..part + per_scale / BLOCK).contains(&b)).collect();
            assert_eq!(
                found, expected,
                "quantize_activations of {cols} numbers with {bad} at index {at}, one scale per \
                 {per_scale}: for each scale, whether it is NaN"
            );
        }
    }
}

#[test]
fn task_2_power_of_two_factor_changes_only_scales() {
    let x: Vec<f32> = (0..2 * SUPER_BLOCK).map(|i| (i as f32 * 37.0) % 255.0 - 127.0).collect();
    let quantized = |factor: f32| {
        let x: Vec<f32> = x.iter().map(|x| x * factor).collect();
        let mut super_blocks = used(2);
        quantize_activations(&x, BLOCK, &mut super_blocks);
        super_blocks
    };
    let plain = quantized(1.0);
    for power in [-60, -20, 20] {
        let factor = 2f32.powi(power);
        for (found, plain) in quantized(factor).iter().zip(&plain) {
            assert!(
                found.values == plain.values
                    && found.sums == plain.sums
                    && found.scales == plain.scales.map(|scale| scale * factor),
                "quantize_activations of x · 2^{power} must give the same integers as x, and \
                 scales 2^{power} times as large: don't limit the size of activations\n  found \
                 {:?} and scales {:?}\n  without the factor {:?} and {:?}",
                found.values,
                found.scales,
                plain.values,
                plain.scales
            );
        }
    }
}

//! Week 2, day 5, task 2: activations as integers.

use tiny_llm::week2::input::{BLOCK, GROUP, Int8Group, SUM, quantize_activations};
use tiny_llm_formats::tensor::tensor;

use super::{fixtures, numbers};

/// Groups that hold the numbers of another row.
pub(super) fn used(groups: usize) -> Vec<Int8Group> {
    vec![
        Int8Group {
            values: [99; GROUP],
            sums: [99 * 16; GROUP / SUM],
            scales: [99.0; GROUP / BLOCK]
        };
        groups
    ]
}

#[track_caller]
fn check_quantize(name: &str, per_scale: usize) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_2_quantize/{name}"));
    let x = numbers(&case, "x");
    let mut groups = used(x.len().div_ceil(GROUP));
    quantize_activations(&x, per_scale, &mut groups);
    let values = groups.iter().flat_map(|group| group.values.map(f32::from));
    case.check("values", &tensor(&[groups.len(), GROUP], values.collect()));
    let scales = groups.iter().flat_map(|group| group.scales);
    case.check("scales", &tensor(&[groups.len(), GROUP / BLOCK], scales.collect()));
    let sums = groups.iter().flat_map(|group| group.sums.map(f32::from));
    case.check("sums", &tensor(&[groups.len(), GROUP / SUM], sums.collect()));
}

#[test]
fn task_2_a_row_of_960() {
    check_quantize("row", GROUP);
}

#[test]
fn task_2_the_largest_magnitude_is_negative() {
    check_quantize("negative", GROUP);
}

#[test]
fn task_2_a_row_shorter_than_a_group() {
    check_quantize("short", GROUP);
}

#[test]
fn task_2_a_group_of_zeros() {
    check_quantize("zeros", GROUP);
}

#[test]
fn task_2_a_scale_for_each_32() {
    check_quantize("blocks", BLOCK);
}

#[test]
fn task_2_parts_of_any_size() {
    let x: Vec<f32> = (0..2 * GROUP).map(|i| (i as f32 * 37.0) % 255.0 - 127.0).collect();
    let quantized = |factor: f32| {
        let x: Vec<f32> = x.iter().map(|x| x * factor).collect();
        let mut groups = used(2);
        quantize_activations(&x, BLOCK, &mut groups);
        groups
    };
    let plain = quantized(1.0);
    for power in [-60, -20, 20] {
        let factor = 2f32.powi(power);
        for (found, plain) in quantized(factor).iter().zip(&plain) {
            assert!(
                found.values == plain.values
                    && found.sums == plain.sums
                    && found.scales == plain.scales.map(|scale| scale * factor),
                "activations times 2^{power} have the same integers, and scales that are 2^{power} times as large: there is no smallest activation and no largest\n  found {:?} and scales {:?}\n  without the factor {:?} and {:?}",
                found.values,
                found.scales,
                plain.values,
                plain.scales
            );
        }
    }
}

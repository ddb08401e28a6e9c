//! Properties that all products of quantized rows with activations have.
//!
//! A product is a sum. So the product with a row is the sum of the products with its parts, and the
//! product with activations is the sum over one activation at a time. Zeros must not affect their
//! neighbours.

#![allow(dead_code, reason = "two days' tests have this module, and use a part of it")]

use tiny_llm::week2::input::{BLOCK, Input, Int8SuperBlock, SUM, SUPER_BLOCK};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::fixtures::random;

/// Returns super-blocks with these `values`, eight scales each, and the matching sums.
pub(crate) fn super_blocks(values: &[f32], scales: &[f32]) -> Vec<Int8SuperBlock> {
    let super_block = |(values, scales): (&[f32], &[f32])| {
        let values: [i8; SUPER_BLOCK] = std::array::from_fn(|i| values[i] as i8);
        let sums =
            std::array::from_fn(|s| values[s * SUM..][..SUM].iter().map(|&p| i16::from(p)).sum());
        Int8SuperBlock { values, sums, scales: scales.try_into().expect("eight scales") }
    };
    values
        .chunks_exact(SUPER_BLOCK)
        .zip(scales.chunks_exact(SUPER_BLOCK / BLOCK))
        .map(super_block)
        .collect()
}

/// Returns `rows` rows of activations with the integers `int8`. Their f32 values are NaN, because
/// these tests don't use them.
pub(crate) fn input(rows: usize, cols: usize, int8: Vec<Int8SuperBlock>) -> Input {
    Input::with_integers(cols, vec![f32::NAN; rows * cols], int8)
}

fn columns(tensor_type: TensorType, row: &[u8]) -> usize {
    row.len() / tensor_type.block_bytes() * tensor_type.block_len()
}

/// Returns several rows of activations: name, integers, and one scale per 32 integers, both padded
/// to whole super-blocks. All activations that meet one block of weights share a scale.
fn activations(cols: usize, block_len: usize) -> Vec<(String, Vec<f32>, Vec<f32>)> {
    let padded = cols.next_multiple_of(SUPER_BLOCK);
    let mut plain: Vec<f32> = random(251, &[cols]).iter().map(|x| (x * 63.0).round()).collect();
    plain.resize(padded, 0.0);
    let scales: Vec<f32> = (0..padded / BLOCK)
        .map(|b| if b * BLOCK < cols { 0.01 * (1 + b * BLOCK / block_len % 5) as f32 } else { 0.0 })
        .collect();
    let pairs: Vec<f32> = (0..padded)
        .map(|i| if i < cols { (i / 2 % 127 + 1) as f32 * [1.0, -1.0][i % 2] } else { 0.0 })
        .collect();
    let mut all = vec![
        ("random activations".to_owned(), plain.clone(), scales.clone()),
        ("pairs of activations that sum to 0".to_owned(), pairs, scales.clone()),
        ("activations of 0".to_owned(), vec![0.0; padded], vec![0.0; padded / BLOCK]),
    ];
    let parts = cols / block_len;
    for part in (0..parts).filter(|&part| part < 9 || part + 1 == parts) {
        let within = |i: usize| i / block_len == part;
        let kept = |wanted: bool| {
            let value = |(i, &x): (usize, &f32)| if within(i) == wanted { x } else { 0.0 };
            let scale = |(b, &x): (usize, &f32)| if within(b * BLOCK) == wanted { x } else { 0.0 };
            (
                plain.iter().enumerate().map(value).collect(),
                scales.iter().enumerate().map(scale).collect(),
            )
        };
        for (wanted, name) in [(false, "0 at"), (true, "0 except at")] {
            let (values, scales) = kept(wanted);
            let places = part * block_len..(part + 1) * block_len;
            all.push((format!("activations that are {name} {places:?}"), values, scales));
        }
    }
    for s in [0, 1, cols / SUM - 1] {
        let mut values = plain.clone();
        values[s * SUM..][..SUM].fill(0.0);
        all.push((
            format!("activations with 16 zeros from index {} on", s * SUM),
            values,
            scales.clone(),
        ));
    }
    all
}

/// Checks that the product with a row of activations is the sum of the products with one activation
/// at a time. `tensor_type` determines the length of blocks.
#[track_caller]
pub(crate) fn check_activations(
    what: &str,
    tensor_type: TensorType,
    row: &[u8],
    product: impl Fn(&[u8], &[Int8SuperBlock]) -> f32,
) {
    let cols = columns(tensor_type, row);
    let padded = cols.next_multiple_of(SUPER_BLOCK);
    let one_at = |i: usize| {
        let mut values = vec![0.0; padded];
        values[i] = 1.0;
        f64::from(product(row, &super_blocks(&values, &vec![1.0; padded / BLOCK])))
    };
    let weights: Vec<f64> = (0..cols).map(one_at).collect();
    for (name, values, scales) in activations(cols, tensor_type.block_len()) {
        let x: Vec<f32> = (0..cols).map(|i| values[i] * scales[i / BLOCK]).collect();
        compare(what, &name, product(row, &super_blocks(&values, &scales)), &weights, &x);
    }
}

/// Works like [`check_activations`], for activations in f32.
#[track_caller]
pub(crate) fn check_activations_f32(
    what: &str,
    tensor_type: TensorType,
    row: &[u8],
    product: impl Fn(&[u8], &[f32]) -> f32,
) {
    let cols = columns(tensor_type, row);
    let one_at = |i: usize| {
        let mut x = vec![0.0; cols];
        x[i] = 1.0;
        f64::from(product(row, &x))
    };
    let weights: Vec<f64> = (0..cols).map(one_at).collect();
    for (name, values, scales) in activations(cols, tensor_type.block_len()) {
        let x: Vec<f32> = (0..cols).map(|i| values[i] * scales[i / BLOCK]).collect();
        compare(what, &name, product(row, &x), &weights, &x);
    }
}

#[track_caller]
fn compare(what: &str, name: &str, found: f32, weights: &[f64], x: &[f32]) {
    let expected: f64 = weights.iter().zip(x).map(|(w, &x)| w * f64::from(x)).sum();
    let largest = weights.iter().fold(0f64, |m, w| m.max(w.abs()));
    let size: f64 = largest * x.iter().map(|&x| f64::from(x.abs())).sum::<f64>();
    let difference = (f64::from(found) - expected).abs();
    assert!(
        difference <= 1e-5 * size,
        "{what} of {} weights with {name}: found {found:e}, expected {expected:e}, the sum of the \
         products with one activation at a time\n  an activation of 0 adds nothing and must not \
         affect the others, so the products with one activation at a time must add up to the \
         product with all",
        weights.len()
    );
}

/// Returns several ways to write `row` as a sum of rows that contain zeros. In each, the parts are
/// single blocks, or the parts of blocks of 256 that share a scale.
fn parts(tensor_type: TensorType, row: &[u8]) -> Vec<(String, Vec<Vec<u8>>)> {
    let size = tensor_type.block_bytes();
    let blocks = row.len() / size;
    // Returns the row after `change` was applied to each of its blocks.
    let changed = |change: &dyn Fn(usize, &mut [u8])| {
        let mut row = row.to_vec();
        row.chunks_exact_mut(size).enumerate().for_each(|(b, block)| change(b, block));
        row
    };
    let block = |kept: usize, wanted: bool| {
        changed(&|b, block| {
            if (b == kept) != wanted {
                block.fill(0);
            }
        })
    };
    let mut all: Vec<(String, Vec<Vec<u8>>)> = (0..blocks)
        .filter(|&b| b < 9 || b + 1 == blocks)
        .map(|b| {
            (
                format!("the row without block {b}, and block {b} alone"),
                vec![block(b, false), block(b, true)],
            )
        })
        .collect();
    all.push(("each block alone".to_owned(), (0..blocks).map(|b| block(b, true)).collect()));
    match tensor_type {
        TensorType::Q6_K => {
            let scale = |s: usize, wanted: bool| {
                changed(&|_, block| {
                    (0..16).filter(|&i| (i == s) != wanted).for_each(|i| block[192 + i] = 0);
                })
            };
            all.extend((0..16).map(|s| {
                (
                    format!("scale {s} set to 0, and the other scales set to 0"),
                    vec![scale(s, false), scale(s, true)],
                )
            }));
        }
        TensorType::Q4_K => {
            let d = |at: usize| changed(&|_, block| block[at..at + 2].fill(0));
            all.push(("d set to 0, and dmin set to 0".to_owned(), vec![d(0), d(2)]));
            let scale = |j: usize, wanted: bool| {
                changed(&|_, block| {
                    (0..8).filter(|&i| (i == j) != wanted).for_each(|i| clear_scale(block, i));
                })
            };
            let minimum = |j: usize, wanted: bool| {
                changed(&|_, block| {
                    (0..8).filter(|&i| (i == j) != wanted).for_each(|i| clear_minimum(block, i));
                })
            };
            // No index is 8, so this clears all of them.
            all.push((
                "all scales set to 0, and all minimums set to 0".to_owned(),
                vec![scale(8, true), minimum(8, true)],
            ));
            for j in 0..8 {
                let scales_alone = changed(&|_, block| {
                    (0..8).filter(|&i| i != j).for_each(|i| clear_scale(block, i));
                    (0..8).for_each(|i| clear_minimum(block, i));
                });
                let minimums_alone = changed(&|_, block| {
                    (0..8).for_each(|i| clear_scale(block, i));
                    (0..8).filter(|&i| i != j).for_each(|i| clear_minimum(block, i));
                });
                all.push((
                    format!("scale {j} set to 0, and all others set to 0"),
                    vec![scale(j, false), scales_alone],
                ));
                all.push((
                    format!("minimum {j} set to 0, and all others set to 0"),
                    vec![minimum(j, false), minimums_alone],
                ));
            }
        }
        _ => {}
    }
    all
}

/// Sets scale `j` of a Q4_K block to 0.
fn clear_scale(block: &mut [u8], j: usize) {
    let s = &mut block[4..16];
    if j < 4 {
        s[j] &= 0xc0;
    } else {
        s[j - 4] &= 0x3f;
        s[j + 4] &= 0xf0;
    }
}

/// Sets minimum `j` of a Q4_K block to 0.
fn clear_minimum(block: &mut [u8], j: usize) {
    let s = &mut block[4..16];
    if j < 4 {
        s[j + 4] &= 0xc0;
    } else {
        s[j] &= 0x3f;
        s[j + 4] &= 0x0f;
    }
}

/// Checks that the product with `row` is the sum of the products with the rows that add up to it.
#[track_caller]
pub(crate) fn check_parts(
    what: &str,
    tensor_type: TensorType,
    row: &[u8],
    product: impl Fn(&[u8]) -> f32,
) {
    let expected = f64::from(product(row));
    for (name, parts) in parts(tensor_type, row) {
        let products: Vec<f64> = parts.iter().map(|row| f64::from(product(row))).collect();
        let found: f64 = products.iter().sum();
        let size: f64 = expected.abs() + products.iter().map(|x| x.abs()).sum::<f64>();
        assert!(
            (found - expected).abs() <= 1e-4 * size,
            "{what}, compared with the products of rows that add up to this row ({name}): their \
             products {products:?} add up to {found:e}, expected {expected:e}, the product of the \
             whole row\n  a zero block or a zero scale adds nothing and must not affect its \
             neighbours, and a minimum counts even if its scale is 0"
        );
    }
}

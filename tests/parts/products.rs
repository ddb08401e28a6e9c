//! Products of rows of blocks with activations: what holds whatever they are.
//!
//! A product is a sum. So it is, of any row, that of its parts, and with any activations that of
//! the activations one by one: zeros, wherever they stand, take nothing away from what stands
//! beside them.

#![allow(dead_code, reason = "two days' tests have this module, and use a part of it")]

use tiny_llm::week2::input::{BLOCK, Input, Int8SuperBlock, SUM, SUPER_BLOCK};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::fixtures::random;

/// Super-blocks of these values, eight scales each, with sums of their own.
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

/// Rows of activations whose integers are these. The f32 values, which none of this is about, are
/// no numbers.
pub(crate) fn input(rows: usize, cols: usize, int8: Vec<Int8SuperBlock>) -> Input {
    Input::with_integers(cols, vec![f32::NAN; rows * cols], int8)
}

fn columns(tensor_type: TensorType, row: &[u8]) -> usize {
    row.len() / tensor_type.block_bytes() * tensor_type.block_len()
}

/// Whole numbers with scales: a name, `[cols]`, and a scale for each 32, both filled up to whole
/// super-blocks. As many share a scale as a block has weights.
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
        ("activations of any size".to_owned(), plain.clone(), scales.clone()),
        ("pairs of activations that add up to 0".to_owned(), pairs, scales.clone()),
        ("zeros throughout".to_owned(), vec![0.0; padded], vec![0.0; padded / BLOCK]),
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
        for (wanted, name) in [(false, "zeros at"), (true, "zeros everywhere but at")] {
            let (values, scales) = kept(wanted);
            let places = part * block_len..(part + 1) * block_len;
            all.push((format!("activations that are {name} {places:?}"), values, scales));
        }
    }
    for s in [0, 1, cols / SUM - 1] {
        let mut values = plain.clone();
        values[s * SUM..][..SUM].fill(0.0);
        all.push((format!("sixteen zeros from {} on", s * SUM), values, scales.clone()));
    }
    all
}

/// The product with any activations is the sum of those with one at a time. `tensor_type` says how
/// long blocks are.
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

/// The same for activations in f32.
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
         products with one activation at a time\n  activations of 0 add nothing and take nothing \
         away, so the products with one activation at a time must add up to the whole",
        weights.len()
    );
}

/// Rows that add up to this one, in several ways, most of which hold zeros: blocks, and in blocks
/// of 256 the scales of their parts.
fn parts(tensor_type: TensorType, row: &[u8]) -> Vec<(String, Vec<Vec<u8>>)> {
    let size = tensor_type.block_bytes();
    let blocks = row.len() / size;
    // The row, of each of whose blocks `change` makes another.
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
                format!("zeros in block {b}, and that block alone"),
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
                    format!("scale {s} of 0, and that scale alone"),
                    vec![scale(s, false), scale(s, true)],
                )
            }));
        }
        TensorType::Q4_K => {
            let d = |at: usize| changed(&|_, block| block[at..at + 2].fill(0));
            all.push(("d of 0, and dmin of 0".to_owned(), vec![d(0), d(2)]));
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
            // Number 8 does not exist: none of them.
            all.push((
                "scales of 0, and minimums of 0".to_owned(),
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
                    format!("scale {j} of 0, and that scale alone"),
                    vec![scale(j, false), scales_alone],
                ));
                all.push((
                    format!("minimum {j} of 0, and that minimum alone"),
                    vec![minimum(j, false), minimums_alone],
                ));
            }
        }
        _ => {}
    }
    all
}

/// Makes scale `j` of a Q4_K block 0.
fn clear_scale(block: &mut [u8], j: usize) {
    let s = &mut block[4..16];
    if j < 4 {
        s[j] &= 0xc0;
    } else {
        s[j - 4] &= 0x3f;
        s[j + 4] &= 0xf0;
    }
}

/// Makes minimum `j` of a Q4_K block 0.
fn clear_minimum(block: &mut [u8], j: usize) {
    let s = &mut block[4..16];
    if j < 4 {
        s[j + 4] &= 0xc0;
    } else {
        s[j] &= 0x3f;
        s[j + 4] &= 0x0f;
    }
}

/// The product with a row is the sum of those with its parts.
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
            "{what} of a row, and of rows that add up to it ({name}): their products {products:?} \
             add up to {found:e}, expected {expected:e}, that of the whole row\n  a block or a \
             scale of 0 adds nothing and takes nothing away from its neighbours: a minimum counts \
             without its scale"
        );
    }
}

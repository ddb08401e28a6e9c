//! Week 2, day 5: rows and activations with zeros anywhere, of any length, in several calls.

use std::sync::Mutex;

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
use tiny_llm_harness::{check::assert_accepts, fixtures::random};

use super::{
    columns, fixtures,
    products::{check_activations, check_activations_f32, check_parts, input},
    super_blocks,
    task_2::used,
};

// Task 1

/// Checks that a product is the sum of its parts, over activations and over blocks.
#[track_caller]
fn check_fused(name: &str, dot: fused::Dot) {
    let tensor_type: TensorType = name.parse().expect("a type");
    let row = fixtures().case(&format!("task_3_each/{name}")).bytes("row");
    let what = format!("the f32 product of a row in {name}");
    check_activations_f32(&what, tensor_type, &row, dot);
    let x: Vec<f32> = random(252, &[columns(name, &row)]).iter().copied().collect();
    check_parts(&what, tensor_type, &row, |row| dot(row, &x));
    let nothing = assert_accepts(&format!("{what} without blocks"), || dot(&[], &[]));
    assert!(nothing == 0.0, "{what} without blocks: found {nothing}, expected 0");
}

#[test]
fn task_1_dot_q4_0_is_additive_over_parts() {
    check_fused("Q4_0", fused::dot_q4_0);
}

#[test]
fn task_1_dot_q4_k_is_additive_over_parts() {
    check_fused("Q4_K", fused::dot_q4_k);
}

#[test]
fn task_1_dot_q6_k_is_additive_over_parts() {
    check_fused("Q6_K", fused::dot_q6_k);
}

// Task 2

#[test]
fn task_2_random_rows_of_various_lengths() {
    for (seed, cols) in [0, 1, 31, 32, 33, 255, 256, 257, 300, 512, 700].into_iter().enumerate() {
        for per_scale in [BLOCK, SUPER_BLOCK] {
            // Every fourth part of 32 is zeros, and the parts have very different magnitudes.
            let size = |i: usize| [1.0, 1e-3, 0.0, -300.0][i / BLOCK % 4];
            let x: Vec<f32> = random(260 + seed as u64, &[cols])
                .iter()
                .enumerate()
                .map(|(i, x)| x * size(i))
                .collect();
            let mut super_blocks = used(cols.div_ceil(SUPER_BLOCK));
            let what = format!("quantize_activations of {cols} numbers, one scale per {per_scale}");
            assert_accepts(&what, || quantize_activations(&x, per_scale, &mut super_blocks));
            check_super_blocks(&what, &x, per_scale, &super_blocks);
        }
    }
}

/// Checks the documented rules of super-blocks, number by number.
#[track_caller]
fn check_super_blocks(what: &str, x: &[f32], per_scale: usize, super_blocks: &[Int8SuperBlock]) {
    for (g, super_block) in super_blocks.iter().enumerate() {
        for i in 0..SUPER_BLOCK {
            let at = g * SUPER_BLOCK + i;
            let part = at / per_scale * per_scale;
            let mates = x.get(part..x.len().min(part + per_scale)).unwrap_or(&[]);
            let largest = mates.iter().fold(0f32, |m, x| m.max(x.abs()));
            let (value, scale) = (super_block.values[i], super_block.scales[i / BLOCK]);
            assert!(
                (scale - largest / 127.0).abs() <= 1e-6 * scale.abs(),
                "{what}: the scale of number {at} is {scale:e}, expected {:e}: the largest \
                 magnitude of the {} numbers that share the scale, divided by 127 (0 for zeros and \
                 past the end of the row)",
                largest / 127.0,
                mates.len()
            );
            let number = x.get(at).copied().unwrap_or(0.0);
            let back = scale * f32::from(value);
            assert!(
                (back - number).abs() <= 0.5001 * scale && (scale > 0.0 || value == 0),
                "{what}: number {at}, {number:e}, became {value} · {scale:e}, expected the nearest \
                 code (0 for zeros and past the end of the row)"
            );
        }
        for (s, (&sum, values)) in
            super_block.sums.iter().zip(super_block.values.chunks_exact(SUM)).enumerate()
        {
            let expected: i16 = values.iter().map(|&q| i16::from(q)).sum();
            assert!(
                sum == expected,
                "{what}: sum {s} of super-block {g} is {sum}, expected {expected}: overwrite all \
                 sums, because the super-blocks may hold old ones"
            );
        }
    }
}

// Task 3

#[track_caller]
fn check_integer(name: &str, dot: integer::Dot) {
    let tensor_type: TensorType = name.parse().expect("a type");
    let what = format!("the integer product of a row in {name}");
    let case = fixtures().case(&format!("task_3_dot/{name}"));
    let x = super_blocks(&case.numbers("values"), &case.numbers("scales"));
    let rows = case.bytes("rows");
    let row = &rows[..rows.len() / 2];
    check_activations(&what, tensor_type, row, dot);
    check_parts(&what, tensor_type, row, |row| dot(row, &x));
    let nothing = assert_accepts(&format!("{what} without blocks"), || dot(&[], &[]));
    assert!(nothing == 0.0, "{what} without blocks: found {nothing}, expected 0");
}

#[test]
fn task_3_dot_q4_0_is_additive_over_parts() {
    check_integer("Q4_0", integer::dot_q4_0);
}

#[test]
fn task_3_dot_q4_k_is_additive_over_parts() {
    check_integer("Q4_K", integer::dot_q4_k);
}

#[test]
fn task_3_dot_q6_k_is_additive_over_parts() {
    check_integer("Q6_K", integer::dot_q6_k);
}

// Task 4

#[test]
fn task_4_dot_unpacked_with_random_zeros() {
    for seed in 0..60 {
        let n = (seed as usize % 3) + 1;
        let draw: Vec<f32> = random(300 + seed, &[6 * n * SUPER_BLOCK]).iter().copied().collect();
        let (numbers, rest) = draw.split_at(3 * n * SUPER_BLOCK);
        // Some scales, minimums and activation scales are 0. In some cases, all scales are.
        let some = |i: usize, kind: usize| {
            let zero = rest[kind * n * SUPER_BLOCK + i] < -0.8 || kind == 0 && seed % 7 == 3;
            if zero { 0.0 } else { rest[kind * n * SUPER_BLOCK + i] * 0.1 }
        };
        let row: Vec<Unpacked> = (0..n)
            .map(|g| Unpacked {
                codes: std::array::from_fn(|i| (numbers[g * SUPER_BLOCK + i] * 63.0) as i8),
                scales: std::array::from_fn(|s| some(g * SUPER_BLOCK / SUM + s, 0)),
                mins: std::array::from_fn(|s| some(g * SUPER_BLOCK / SUM + s, 1).abs()),
            })
            .collect();
        let scales: Vec<f32> = (0..n * SUPER_BLOCK / BLOCK).map(|b| some(b, 2).abs()).collect();
        let value = |i: usize| {
            let scale = scales[i / BLOCK];
            // In every other case, each sum of sixteen is 0.
            let pair = (i / 2 % 50 + 1) as f32 * [1.0, -1.0][i % 2];
            let any = (numbers[n * SUPER_BLOCK + i] * 63.0).round();
            if scale == 0.0 {
                0.0
            } else if seed % 2 == 0 {
                pair
            } else {
                any
            }
        };
        let values: Vec<f32> = (0..n * SUPER_BLOCK).map(value).collect();
        let found = dot_unpacked(&row, &super_blocks(&values, &scales));
        let (mut expected, mut size) = (0.0, 0.0);
        for i in 0..n * SUPER_BLOCK {
            let (super_block, s) = (&row[i / SUPER_BLOCK], i % SUPER_BLOCK / SUM);
            let weight = f64::from(super_block.scales[s])
                * f64::from(super_block.codes[i % SUPER_BLOCK])
                - f64::from(super_block.mins[s]);
            let x = f64::from(scales[i / BLOCK]) * f64::from(values[i]);
            expected += weight * x;
            size += (weight * x).abs();
        }
        assert!(
            (f64::from(found) - expected).abs() <= 1e-4 * size,
            "dot_unpacked of {n} super-blocks with some scales, minimums and activations of 0 \
             (seed {seed}): found {found:e}, expected {expected:e}\n  weight i is scales[i / 16] · \
             codes[i] − mins[i / 16]: a minimum counts even if its scale is 0, a zero block must \
             not affect its super-block, and activations that sum to 0 need not be zeros"
        );
    }
    let nothing = assert_accepts("dot_unpacked of no super-blocks", || dot_unpacked(&[], &[]));
    assert!(nothing == 0.0, "dot_unpacked of no super-blocks: found {nothing}, expected 0");
}

/// Multiplies matrices of different widths in a row. A kept buffer must not affect the next one.
#[test]
fn task_4_matrix_products_of_various_widths() {
    for (cols, rows, tokens) in [(320, 3, 2), (32, 5, 3), (544, 1, 4), (32, 2, 1), (320, 4, 1)] {
        let bytes: Vec<u8> = (0..rows * cols / 32 * 34).map(|i| (i * 7 % 251) as u8).collect();
        let weight = Matrix::new(rows, cols, TensorType::Q8_0, bytes.into()).expect("whole blocks");
        let n = cols.div_ceil(SUPER_BLOCK);
        let int8: Vec<Int8SuperBlock> = (0..tokens)
            .flat_map(|t| {
                super_blocks(
                    &vec![(t + 1) as f32; n * SUPER_BLOCK],
                    &vec![1.0; n * SUPER_BLOCK / BLOCK],
                )
            })
            .collect();
        let x = input(tokens, cols, int8);
        // Every super-block of a row encodes the row's number.
        let number = |bytes: &[u8]| f32::from(bytes[0]) + 1.0;
        let expected: Vec<f32> = (0..tokens * rows)
            .map(|i| number(weight.row(i % rows)) * (n * SUPER_BLOCK * (i / rows + 1)) as f32)
            .collect();
        let lengths = Mutex::new(Vec::new());
        let mut out = vec![1000.0; tokens * rows];
        Team::new(1).parallel_tiles(&mut out, rows, (2, 2), |tile: &mut Tile<'_, f32>| {
            let unpack = |bytes: &[u8], row: &mut [Unpacked]| {
                lengths.lock().expect("nobody panicked").push(row.len());
                for super_block in row {
                    *super_block = Unpacked {
                        codes: [1; SUPER_BLOCK],
                        scales: [number(bytes); SUPER_BLOCK / SUM],
                        ..Unpacked::default()
                    };
                }
            };
            matrix_matrix(unpack, &weight, &x, tile);
        });
        let what = format!(
            "{rows} rows of {cols} weights and {tokens} rows of activations, after matrices of \
             other widths"
        );
        let lengths = lengths.into_inner().expect("nobody panicked");
        assert!(
            lengths.iter().all(|&len| len == n),
            "matrix_matrix of {what}: `unpack` got rows of {lengths:?} super-blocks, expected {n} \
             each time"
        );
        assert!(out == expected, "matrix_matrix of {what}: found {out:?}, expected {expected:?}");
        for t in 0..tokens {
            let mut out = vec![1000.0; rows];
            let dot = |row: &[u8], x: &[Int8SuperBlock]| {
                number(row)
                    * x.iter().map(|g| g.values.map(f32::from).iter().sum::<f32>()).sum::<f32>()
            };
            matrix_vector(dot, (0..rows).map(|r| weight.row(r)), x.int8_row(t), &mut out);
            assert!(
                out == expected[t * rows..][..rows],
                "matrix_vector of {what}, row {t} of activations: found {out:?}, expected {:?}",
                &expected[t * rows..][..rows]
            );
        }
    }
    assert_accepts("matrix_vector of no rows", || {
        matrix_vector(|_, _| 0.0, std::iter::empty(), &[], &mut []);
    });
}

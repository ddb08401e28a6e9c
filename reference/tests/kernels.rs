//! Compares the products of every rung that this machine has, in every type, with f64 sums over
//! decoded rows.

use tiny_llm_formats::gguf::TensorType;

use tiny_llm_reference::week2::{
    input::{BLOCK, Input, Int8SuperBlock, Prepared, SUM, SUPER_BLOCK, quantize_activations},
    kernels::{Rung, matmul, naive::decode_row, quantize},
    matrix::Matrix,
    parallel::Team,
};

#[path = "parts/random_blocks.rs"]
mod random_blocks;
use random_blocks::{Random, matrix};

fn input(rows: usize, cols: usize, mut value: impl FnMut(usize) -> f32) -> Input {
    let mut x = Input::default();
    x.resize(rows, cols);
    for (i, x) in x.values.iter_mut().enumerate() {
        *x = value(i);
    }
    x
}

/// Multiplies `row` with each row of the activations `[T, C]` in f64. Returns for each one the sum
/// of the products, and the sum of their magnitudes.
fn sums(row: &[f32], activations: &[f64]) -> Vec<(f64, f64)> {
    let products = |x: &[f64]| {
        row.iter().zip(x).fold((0.0, 0.0), |(sum, size), (&w, x)| {
            (sum + f64::from(w) * x, size + (f64::from(w) * x).abs())
        })
    };
    activations.chunks_exact(row.len()).map(products).collect()
}

/// Compares the product of every rung with an f64 sum over the same operands. These are the
/// activations, or their rounded values if the rung uses integers. Tries all widths of scales that
/// the weights allow.
fn check(weight: &Matrix, x: &mut Input, what: &str) {
    for per_scale in [BLOCK, SUPER_BLOCK]
        .into_iter()
        .filter(|&per_scale| per_scale >= weight.tensor_type.block_len())
    {
        let x = x.quantize_with(&Team::new(1), per_scale, quantize_activations);
        check_width(weight, x, &format!("{what}, a scale for each {per_scale}"));
    }
}

fn check_width(weight: &Matrix, x: Prepared<'_>, what: &str) {
    let team = Team::new(1);
    let outputs: Vec<(Rung, Vec<f32>)> = Rung::available()
        .into_iter()
        .map(|rung| {
            let mut out = vec![f32::NAN; x.rows * weight.rows];
            matmul(rung, &team, weight, x, &mut out);
            (rung, out)
        })
        .collect();
    let floats: Vec<f64> = x.values.iter().map(|&x| f64::from(x)).collect();
    let of_row = |t: usize| {
        let of_super_block = |super_block: &Int8SuperBlock| {
            std::array::from_fn::<f64, SUPER_BLOCK, _>(|i| {
                f64::from(super_block.values[i]) * f64::from(super_block.scales[i / BLOCK])
            })
        };
        let values = x.int8_row(t).iter().flat_map(of_super_block);
        values.take(x.cols)
    };
    let integers: Vec<f64> = (0..x.rows).flat_map(of_row).collect();
    let mut row = vec![0.0; weight.cols];
    for r in 0..weight.rows {
        decode_row(weight, r, &mut row);
        let (from_floats, from_integers) = (sums(&row, &floats), sums(&row, &integers));
        for (rung, out) in &outputs {
            for t in 0..x.rows {
                let found = out[t * weight.rows + r];
                let tensor_type = weight.tensor_type;
                let (sum, size) = if rung.wants_int8() && tensor_type.block_len() > 1 {
                    from_integers[t]
                } else {
                    from_floats[t]
                };
                // The tolerance covers the rounding of weights, minimums and partial sums.
                let fits = (f64::from(found) - sum).abs() <= 2e-5 * size + 1e-30;
                let shapes =
                    format!("[{}, {}] × [{}, {}]ᵀ", x.rows, x.cols, weight.rows, weight.cols);
                assert!(
                    fits,
                    "{rung}, {tensor_type}, {what}: {shapes}, row {t}, output {r}: found {found}, \
                     expected {sum}"
                );
            }
        }
    }
}

/// Calls `run` for every type, and for each of `cols` that is a whole number of the type's blocks.
fn for_each(cols: &[usize], mut run: impl FnMut(TensorType, usize)) {
    for tensor_type in TensorType::READ {
        for &cols in cols.iter().filter(|&&cols| tensor_type.row_bytes(cols).is_some()) {
            run(tensor_type, cols);
        }
    }
}

/// Prints the rungs that the other tests use. Fails if `TINY_LLM_KERNELS` names a rung that this
/// machine lacks, because the other tests would not notice.
#[test]
fn rung_in_the_environment_is_available() {
    let names: Vec<&str> = Rung::available().iter().map(|rung| rung.name()).collect();
    println!("rungs: {}", names.join(", "));
    assert_eq!(Rung::from_environment().err(), None);
}

#[test]
fn matmul_matches_f64_for_random_bytes() {
    let mut random = Random(1);
    for_each(&[32, 256, 288, 960, 1024], |tensor_type, cols| {
        for (rows, tokens) in
            [(1, 1), (13, 1), (33, 1), (50, 1), (2, 3), (13, 2), (16, 4), (35, 5), (47, 9)]
        {
            if rows * tokens * cols > 100_000 {
                continue;
            }
            let weight = matrix(tensor_type, rows, cols, || random.next() as u8);
            let mut x = input(tokens, cols, |_| random.signed());
            check(&weight, &mut x, "random bytes");
        }
    });
}

#[test]
fn matmul_matches_f64_for_long_rows_and_many_tokens() {
    let mut random = Random(2);
    for_each(&[5632], |tensor_type, cols| {
        let weight = matrix(tensor_type, 3, cols, || random.next() as u8);
        check(&weight, &mut input(2, cols, |_| random.signed()), "a long row");
    });
    for_each(&[256], |tensor_type, cols| {
        let weight = matrix(tensor_type, 3, cols, || random.next() as u8);
        check(&weight, &mut input(259, cols, |_| random.signed()), "many tokens");
    });
}

#[test]
fn matmul_matches_f64_for_extreme_values() {
    for_each(&[256, 960], |tensor_type, cols| {
        for byte in [0x00, 0x7f, 0x80, 0x81, 0xff] {
            let weight = matrix(tensor_type, 5, cols, || byte);
            for tokens in [1, 4] {
                for (what, [even, odd]) in
                    [("+127", [1.0, 1.0]), ("−127", [-1.0, -1.0]), ("±127", [1.0, -1.0])]
                {
                    let value = |i: usize| if i.is_multiple_of(2) { even } else { odd };
                    let what = format!("bytes {byte:#x}, activations {what}");
                    check(&weight, &mut input(tokens, cols, value), &what);
                }
            }
        }
    });
}

#[test]
fn matmul_matches_f64_for_zeros_and_mixed_scales() {
    let mut random = Random(3);
    for_each(&[960, 1024], |tensor_type, cols| {
        let weight = matrix(tensor_type, 17, cols, || random.next() as u8);
        for tokens in [1, 3] {
            check(&weight, &mut input(tokens, cols, |_| 0.0), "zeros");
            let mut by_super_block = input(tokens, cols, |i| {
                10f32.powi((i % cols / SUPER_BLOCK) as i32 * 2 - 3) * random.signed()
            });
            check(&weight, &mut by_super_block, "super-blocks of different scales");
            let mut by_block = input(tokens, cols, |i| {
                10f32.powi((i % cols / BLOCK) as i32 % 7 - 3) * random.signed()
            });
            check(&weight, &mut by_block, "blocks of different scales");
        }
    });
}

#[test]
fn every_rung_quantizes_activations_equally() {
    let mut random = Random(4);
    for cols in [1, 16, 255, 256, 257, 960, 2048] {
        for size in [0.0, 1e-30, 1.0, 1e30] {
            // Every third value is a rounding tie.
            let mut expected =
                input(3, cols, |i| if i.is_multiple_of(3) { (random.next() % 255) as f32 - 126.5 } else { 127.0 * random.signed() } * size);
            for (per_scale, rung) in [BLOCK, SUPER_BLOCK].into_iter().flat_map(|per_scale| {
                Rung::available().into_iter().map(move |rung| (per_scale, rung))
            }) {
                expected.quantize_with(&Team::new(1), per_scale, quantize_activations);
                let used = vec![
                    Int8SuperBlock {
                        values: [9; SUPER_BLOCK],
                        sums: [9; SUPER_BLOCK / SUM],
                        scales: [9.0; SUPER_BLOCK / BLOCK]
                    };
                    expected.int8.len()
                ];
                let before = std::mem::replace(&mut expected.int8, used);
                quantize(rung, &Team::new(2), &mut expected, per_scale);
                assert_eq!(
                    expected.int8, before,
                    "{rung}, {cols} values of {size}, a scale for each {per_scale}"
                );
            }
        }
    }
}

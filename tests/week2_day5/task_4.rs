//! Week 2, day 5, task 4: one row of activations, and many.

use super::products::{input, super_blocks};
use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};
use tiny_llm::week2::{
    input::{BLOCK, Input, Int8SuperBlock, SUM, SUPER_BLOCK},
    kernels::unpacked::{Unpacked, dot_unpacked, matrix_matrix, matrix_vector},
    matrix::Matrix,
    parallel::{Team, Tile},
};
use tiny_llm_formats::{Tensor, gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{check::assert_accepts, fixtures::Case};

use super::{dot, fixtures, unpack};

#[test]
fn task_4_dot_unpacked() {
    check_unpacked();
}

#[track_caller]
fn check_unpacked() {
    let case = fixtures().case("task_4_unpacked/two_super_blocks");
    let (codes, scales, mins) =
        (case.numbers("codes"), case.numbers("scales"), case.numbers("mins"));
    let row: Vec<Unpacked> = (0..2)
        .map(|g| Unpacked {
            codes: std::array::from_fn(|i| codes[g * SUPER_BLOCK + i] as i8),
            scales: std::array::from_fn(|s| scales[g * SUPER_BLOCK / SUM + s]),
            mins: std::array::from_fn(|s| mins[g * SUPER_BLOCK / SUM + s]),
        })
        .collect();
    let x = super_blocks(&case.numbers("values"), &case.numbers("x_scales"));
    case.check(
        "products",
        &tensor(&[6], x.chunks_exact(2).map(|x| dot_unpacked(&row, x)).collect()),
    );
}

/// Returns the matrix and the activations of a case.
fn matrix(case: &Case) -> (Matrix, Input) {
    let rows = case.integers("rows").shape()[0];
    let weight =
        Matrix::new(rows, 320, TensorType::Q8_0, case.bytes("rows").into()).expect("whole blocks");
    let (values, scales) = (case.tensor("values"), case.tensor("scales"));
    let of_row = |t: usize| {
        let row =
            |x: &Tensor| x.index_axis(ndarray::Axis(0), t).iter().copied().collect::<Vec<f32>>();
        super_blocks(&row(&values), &row(&scales))
    };
    let tokens = values.shape()[0];
    // The f32 values are NaN, because these functions don't use them.
    let int8 = (0..tokens).flat_map(of_row).collect();
    let x = input(tokens, 320, int8);
    (weight, x)
}

#[test]
fn task_4_matrix_vector() {
    let case = fixtures().case("task_4_matrix/q8_0");
    let (weight, x) = matrix(&case);
    let read = Cell::new(0);
    let counting = |row: &[u8], x: &[Int8SuperBlock]| {
        read.set(read.get() + row.len());
        dot(row, x)
    };
    let mut products = Vec::new();
    for t in 0..x.rows {
        let mut out = vec![1000.0; weight.rows];
        matrix_vector(counting, (0..weight.rows).map(|r| weight.row(r)), x.int8_row(t), &mut out);
        products.extend(out);
    }
    let (found, expected) = (read.get(), x.rows * weight.bytes().len());
    case.check("products", &tensor(&[x.rows, weight.rows], products));
    assert!(
        found == expected,
        "matrix_vector read {found} bytes of weights for {} calls, expected {expected}: read each \
         byte once per call",
        x.rows
    );
}

/// Prints the counts with `-- --nocapture`.
#[test]
fn task_4_matrix_products_bytes_and_rows_read() {
    let (weight, x) = matrix(&fixtures().case("task_4_matrix/q8_0"));
    let (bytes, rows) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |row: &[u8]| {
        bytes.fetch_add(row.len(), Relaxed);
        rows.fetch_add(1, Relaxed);
    };
    let take = || (bytes.swap(0, Relaxed), rows.swap(0, Relaxed));
    let counting_dot = |row: &[u8], _: &[Int8SuperBlock]| {
        count(row);
        0.0
    };
    for t in 0..x.rows {
        matrix_vector(
            counting_dot,
            (0..weight.rows).map(|r| weight.row(r)),
            x.int8_row(t),
            &mut vec![1000.0; weight.rows],
        );
    }
    let vector = take();
    Team::new(1).parallel_tiles(
        &mut vec![1000.0; x.rows * weight.rows],
        weight.rows,
        (x.rows, weight.rows),
        |tile: &mut Tile<'_, f32>| {
            let counting_unpack = |row: &[u8], _: &mut [Unpacked]| count(row);
            matrix_matrix(counting_unpack, &weight, &x, tile);
        },
    );
    let matrix = take();

    println!(
        "{} rows of {} weights in Q8_0, {} rows of activations",
        weight.rows, weight.cols, x.rows
    );
    println!("{:15}  bytes of weights read  rows read", "");
    for (name, (bytes, rows)) in [("matrix–vector", vector), ("matrix–matrix", matrix)] {
        println!("{name:15}  {bytes:21}  {rows:13}");
    }
    let all = weight.bytes().len();
    let expected = [(x.rows * all, x.rows * weight.rows), (all, weight.rows)];
    for (name, found, expected) in
        [("matrix–vector", vector, expected[0]), ("matrix–matrix", matrix, expected[1])]
    {
        let (bytes, rows) = found;
        assert!(
            found == expected,
            "{name} product: found {bytes} bytes and {rows} rows read, expected {} and {}",
            expected.0,
            expected.1
        );
    }
}

#[test]
fn task_4_matrix_matrix() {
    check_matrix_matrix(usize::MAX, usize::MAX);
}

#[test]
fn task_4_matrix_matrix_in_tiles() {
    check_matrix_matrix(3, 2);
}

/// Checks products in tiles of `tile_rows` rows of activations and `tile_cols` rows of weights.
#[track_caller]
fn check_matrix_matrix(tile_rows: usize, tile_cols: usize) {
    check_unpacked();
    let case = fixtures().case("task_4_matrix/q8_0");
    let (weight, x) = matrix(&case);
    let mut out = vec![1000.0; x.rows * weight.rows];
    Team::new(1).parallel_tiles(&mut out, weight.rows, (tile_rows, tile_cols), |tile: &mut Tile<'_, f32>| {
        let (tokens, rows) = (tile.rows().len(), tile.cols().len());
        let unpacked = Cell::new(0);
        let counting = |bytes: &[u8], row: &mut [Unpacked]| {
            unpacked.set(unpacked.get() + 1);
            unpack(bytes, row);
        };
        let (down, across) = (tile.rows(), tile.cols());
        let what = format!(
            "matrix_matrix on the tile of rows {down:?} and columns {across:?}, where `row_mut(t)` \
             takes t in {down:?} and returns {rows} elements, with indices 0..{rows}"
        );
        assert_accepts(&what, || matrix_matrix(counting, &weight, &x, tile));
        let found = unpacked.get();
        assert!(
            found == rows,
            "matrix_matrix unpacked {found} rows for a tile of {rows} rows of weights and {tokens} \
             rows of activations, expected {rows}: unpack each row once for all rows of activations"
        );
    });
    case.check("products", &tensor(&[x.rows, weight.rows], out));
}

#[test]
fn task_4_large_rows_and_matrices() {
    let super_block = Unpacked {
        codes: [1; SUPER_BLOCK],
        scales: [1.0; SUPER_BLOCK / SUM],
        ..Unpacked::default()
    };
    let found = dot_unpacked(&vec![super_block; 8], &super_blocks(&[1.0; 2048], &[1.0; 64]));
    assert!(
        found == 2048.0,
        "dot_unpacked of 2048 weights of 1 and activations of 1: found {found}, expected 2048"
    );

    // Row r contains r, and activations t contain t, so their product is r · t.
    let (rows, tokens) = (300, 100);
    let number = |row: &[u8]| f32::from(u16::from_le_bytes([row[0], row[1]]));
    let bytes: Vec<u8> =
        (0..rows as u16).flat_map(|r| [r.to_le_bytes().as_slice(), &[0; 32]].concat()).collect();
    let weight = Matrix::new(rows, 32, TensorType::Q8_0, bytes.into()).expect("whole blocks");
    let mut out = vec![1000.0; rows];
    matrix_vector(
        |row, _| number(row),
        (0..rows).map(|r| weight.row(r)),
        &super_blocks(&[0.0; SUPER_BLOCK], &[1.0; SUPER_BLOCK / BLOCK]),
        &mut out,
    );
    let wrong = (0..rows).find(|&r| out[r] != r as f32);
    if let Some(r) = wrong {
        panic!("matrix_vector over 300 rows: row {r}: found {}, expected {r}", out[r]);
    }

    let int8 = (0..tokens).flat_map(|t| {
        let mut values = [0.0; SUPER_BLOCK];
        values[0] = t as f32;
        super_blocks(&values, &[1.0; SUPER_BLOCK / BLOCK])
    });
    let x = input(tokens, 32, int8.collect());
    let mut out = vec![1000.0; tokens * rows];
    Team::new(1).parallel_tiles(&mut out, rows, (tokens, rows), |tile: &mut Tile<'_, f32>| {
        let unpack = |bytes: &[u8], row: &mut [Unpacked]| {
            row.fill(Unpacked::default());
            row[0].codes[0] = 1;
            row[0].scales[0] = number(bytes);
        };
        matrix_matrix(unpack, &weight, &x, tile);
    });
    let wrong = (0..tokens * rows).find(|&i| out[i] != (i % rows * (i / rows)) as f32);
    if let Some(i) = wrong {
        let (row, t) = (i % rows, i / rows);
        panic!(
            "matrix_matrix on one tile of 300 rows of weights and 100 rows of activations: row \
             {row} of the weights times row {t} of the activations: found {}, expected {}",
            out[i],
            row * t
        );
    }
}

//! Week 2, day 5: products of quantized rows, in f32 and in integers, for one row of activations
//! and for many.
//!
//! Expected values: `python-ref/oracle/week2_day5.py`, which takes weights from the `gguf` package.

use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use tiny_llm::week2::{
    input::{BLOCK, GROUP, Input, Int8Group, SUM, quantize_activations},
    kernels::{
        fused, integer,
        unpacked::{Unpacked, dot_unpacked, matrix_matrix, matrix_vector},
    },
    matrix::Matrix,
    parallel::{Team, Tile},
};
use tiny_llm_formats::{Tensor, gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{
    check::assert_accepts,
    fixtures::{Case, Fixtures},
};

#[path = "week2_day5/drawn.rs"]
mod drawn;
#[path = "parts/products.rs"]
mod products;

use products::{groups, input};

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day5")
}

/// An input of a case as bytes, and as numbers.
fn bytes(case: &Case, name: &str) -> Vec<u8> {
    case.integers(name).iter().map(|&byte| byte as u8).collect()
}

fn numbers(case: &Case, name: &str) -> Vec<f32> {
    case.tensor(name).iter().copied().collect()
}

/// `row` for each row of a case's `rows`.
fn of_rows(case: &Case, row: impl Fn(&[u8]) -> f32) -> Tensor {
    let rows = case.integers("rows");
    let (bytes, n) = (bytes(case, "rows"), rows.shape()[0]);
    tensor(&[n], bytes.chunks_exact(bytes.len() / n).map(row).collect())
}

// Task 1: in f32

/// The weights of a row, one at a time: activations that are 0 but for one.
#[track_caller]
fn check_each(name: &str, dot: fused::Dot) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_each/{name}"));
    let row = bytes(&case, "row");
    let cols = columns(name, &row);
    let one_at = |i: usize| {
        let mut x = vec![0.0; cols];
        x[i] = 1.0;
        dot(&row, &x)
    };
    case.check("weights", &tensor(&[cols], (0..cols).map(one_at).collect()));
}

fn columns(name: &str, row: &[u8]) -> usize {
    let tensor_type: TensorType = name.parse().expect("a type");
    row.len() / tensor_type.block_bytes() * tensor_type.block_len()
}

#[track_caller]
fn check_dot(name: &str, dot: fused::Dot) {
    check_each(name, dot);
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_dot/{name}"));
    let x = numbers(&case, "x");
    case.check("products", &of_rows(&case, |row| dot(row, &x)));
}

#[test]
fn task_1_q8_0() {
    check_dot("Q8_0", fused::dot_q8_0);
}

#[test]
fn task_1_q4_0() {
    check_dot("Q4_0", fused::dot_q4_0);
}

#[test]
fn task_1_q5_0() {
    check_dot("Q5_0", fused::dot_q5_0);
}

#[test]
fn task_1_q4_k() {
    check_dot("Q4_K", fused::dot_q4_k);
}

#[test]
fn task_1_q6_k() {
    check_dot("Q6_K", fused::dot_q6_k);
}

// Task 2: activations as integers

/// Groups that hold the numbers of another row.
fn used(groups: usize) -> Vec<Int8Group> {
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

// Task 3: integers meet integers

/// Tiny scales make tiny products, and nothing else; blocks may be many.
#[track_caller]
fn check_of_any_size(name: &str, dot: integer::Dot) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_dot/{name}"));
    let scales = numbers(&case, "scales");
    let x = groups(&numbers(&case, "values"), &scales);
    let factor = 2f32.powi(-40);
    let tiny: Vec<f32> = scales.iter().map(|scale| scale * factor).collect();
    let tiny = groups(&numbers(&case, "values"), &tiny);
    of_rows(&case, |row| {
        let (found, expected) = (dot(row, &tiny), dot(row, &x) * factor);
        assert!(
            (found - expected).abs() <= 1e-6 * expected.abs(),
            "a row of {name} and activations whose scales are 2⁻⁴⁰ times as large: found {found:e}, expected {expected:e}, 2⁻⁴⁰ times what it was: scales are f32, and so is their product"
        );
        found
    });
}

#[test]
fn task_3_scales_of_any_size() {
    check_of_any_size("Q8_0", integer::dot_q8_0);
    check_of_any_size("Q4_0", integer::dot_q4_0);
    check_of_any_size("Q5_0", integer::dot_q5_0);
    check_of_any_size("Q4_K", integer::dot_q4_k);
    check_of_any_size("Q6_K", integer::dot_q6_k);
}

/// Sixty-four blocks of 32 ones, at a scale of 1.
fn ones() -> Vec<u8> {
    [[0x00, 0x3c].as_slice(), &[1; 32]].concat().repeat(64)
}

#[test]
fn task_1_q8_0_of_64_blocks() {
    let found = fused::dot_q8_0(&ones(), &[1.0; 2048]);
    assert!(found == 2048.0, "2048 ones times ones in Q8_0: found {found}, expected 2048");
}

#[test]
fn task_3_q8_0_of_64_blocks() {
    let found = integer::dot_q8_0(&ones(), &groups(&[1.0; 2048], &[1.0; 64]));
    assert!(found == 2048.0, "2048 ones times ones in Q8_0: found {found}, expected 2048");
}

/// Activations that are all 0 in one block of 32, whose scale is then 0, and not in the others.
#[track_caller]
fn check_around_zeros(name: &str, dot: impl Fn(&[Int8Group]) -> f32) {
    let values: Vec<f32> = (0..2 * GROUP).map(|i| (i * 37 % 200) as f32 - 99.0).collect();
    for zero in 0..2 * GROUP / BLOCK {
        let mut values = values.clone();
        values[zero * BLOCK..][..BLOCK].fill(0.0);
        let scales = |of_zeros: f32| {
            let mut scales = vec![0.5; 2 * GROUP / BLOCK];
            scales[zero] = of_zeros;
            scales
        };
        let (found, expected) =
            (dot(&groups(&values, &scales(0.0))), dot(&groups(&values, &scales(0.5))));
        assert!(
            (found - expected).abs() <= 1e-6 * expected.abs(),
            "{name}: two groups of activations, of which block {zero} of 32 is all zeros: with a \
             scale of 0 for these found {found}, with any other {expected}: 0 · 0 is 0 as 0.5 · 0 \
             is, and the other blocks count"
        );
    }
}

/// Activations of which each sixteen add up to 0, and are not 0.
#[track_caller]
fn check_sums_of_zero(name: &str, row: &[u8], dot: integer::Dot) {
    let n = columns(name, row).next_multiple_of(GROUP);
    let scales = vec![1.0; n / BLOCK];
    let in_pairs = |even: bool, odd: bool| -> Vec<f32> {
        let sign = |i: usize| if i.is_multiple_of(2) { f32::from(even) } else { -f32::from(odd) };
        (0..n).map(|i| sign(i) * (1 + i / 2 % 4) as f32).collect()
    };
    let dot = |values: &[f32]| dot(row, &groups(values, &scales));
    let (found, expected) =
        (dot(&in_pairs(true, true)), dot(&in_pairs(true, false)) + dot(&in_pairs(false, true)));
    let size = dot(&in_pairs(true, false)).abs();
    assert!(
        (found - expected).abs() <= 1e-5 * size,
        "{name}: activations 1, −1, 2, −2, … of which each sixteen add up to 0: found {found}, \
         expected {expected}, as those above 0 and those below 0 give by themselves"
    );
}

#[test]
fn task_3_activations_of_zeros_and_sums_of_zero() {
    let fixtures = fixtures();
    for (name, dot) in [
        ("Q8_0", integer::dot_q8_0 as integer::Dot),
        ("Q4_0", integer::dot_q4_0),
        ("Q5_0", integer::dot_q5_0),
        ("Q4_K", integer::dot_q4_k),
        ("Q6_K", integer::dot_q6_k),
    ] {
        let row = bytes(&fixtures.case(&format!("task_3_each/{name}")), "row");
        let tensor_type: TensorType = name.parse().expect("a type");
        if tensor_type.block_len() == BLOCK {
            let two_groups: Vec<u8> = row
                .iter()
                .copied()
                .cycle()
                .take(2 * GROUP / BLOCK * tensor_type.block_bytes())
                .collect();
            check_around_zeros(name, |x| dot(&two_groups, x));
        }
        check_sums_of_zero(name, &row, dot);
    }
}

/// Scales of 0 beside minimums that are not: −Σ 1 · m · x is what is left.
#[test]
fn task_3_q4_k_with_scales_of_zero() {
    let mut block = [0xff; 144];
    // d is 1 and d_min is 1; scales 0, minimums 5 in the first four sub-blocks, 7 in the others.
    block[..4].copy_from_slice(&[0x00, 0x3c, 0x00, 0x3c]);
    block[4..8].fill(0);
    block[8..12].fill(5);
    block[12..16].fill(7 << 4);
    let expected = -32.0 * 4.0 * (5.0 + 7.0);
    let found = integer::dot_q4_k(&block, &groups(&[1.0; GROUP], &[1.0; GROUP / BLOCK]));
    assert!(
        found == expected,
        "a block of Q4_K whose scales are 0 and whose minimums are 5 and 7, with activations of 1: \
         found {found}, expected {expected}: a minimum counts where its scale is 0, too"
    );
}

#[test]
fn task_4_an_unpacked_row_and_zeros() {
    check_unpacked();
    let row: Vec<Unpacked> = (0..2)
        .map(|g| Unpacked {
            codes: std::array::from_fn(|i| ((i * 7 + g) % 50) as i8 - 20),
            scales: std::array::from_fn(|s| 0.5 + s as f32 * 0.25),
            mins: std::array::from_fn(|s| s as f32 * 0.125),
        })
        .collect();
    check_around_zeros("dot_unpacked", |x| dot_unpacked(&row, x));
    let scales_of_0: Vec<Unpacked> =
        row.iter().map(|group| Unpacked { scales: [0.0; GROUP / SUM], ..group.clone() }).collect();
    let x = groups(&[1.0; 2 * GROUP], &[1.0; 2 * GROUP / BLOCK]);
    let (found, expected) = (dot_unpacked(&scales_of_0, &x), -2.0 * 16.0 * 0.125 * 120.0);
    assert!(
        found == expected,
        "dot_unpacked with scales of 0 and minimums that are not, activations of 1: found {found}, \
         expected {expected}: a minimum counts where its scale is 0, too"
    );
    let signs: Vec<f32> = (0..2 * GROUP).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let x = groups(&signs, &[1.0; 2 * GROUP / BLOCK]);
    let weighted = row.iter().flat_map(|group| {
        (0..GROUP).map(|i| f64::from(group.scales[i / SUM]) * f64::from(group.codes[i]))
    });
    let expected: f64 = weighted.zip(&signs).map(|(w, x)| w * f64::from(*x)).sum();
    let found = f64::from(dot_unpacked(&row, &x));
    assert!(
        (found - expected).abs() <= 1e-3,
        "dot_unpacked with activations 1, −1, 1, −1, … whose sums are 0: found {found}, expected \
         {expected}: activations whose sum is 0 are not zeros"
    );
}

#[track_caller]
fn check_integer_each(name: &str, dot: integer::Dot) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_each/{name}"));
    let row = bytes(&case, "row");
    let cols = columns(name, &row);
    let one_at = |i: usize| {
        let mut values = vec![0.0; cols.next_multiple_of(GROUP)];
        values[i] = 1.0;
        dot(&row, &groups(&values, &vec![1.0; cols.div_ceil(GROUP) * GROUP / BLOCK]))
    };
    case.check("weights", &tensor(&[cols], (0..cols).map(one_at).collect()));
}

#[track_caller]
fn check_integer(name: &str, dot: integer::Dot) {
    check_integer_each(name, dot);
    let fixtures = fixtures();
    for part in ["dot", "largest"] {
        let case = fixtures.case(&format!("task_3_{part}/{name}"));
        let x = groups(&numbers(&case, "values"), &numbers(&case, "scales"));
        case.check("products", &of_rows(&case, |row| dot(row, &x)));
    }
}

#[test]
fn task_3_q8_0() {
    check_integer("Q8_0", integer::dot_q8_0);
}

#[test]
fn task_3_q4_0() {
    check_integer("Q4_0", integer::dot_q4_0);
}

#[test]
fn task_3_q5_0() {
    check_integer("Q5_0", integer::dot_q5_0);
}

#[test]
fn task_3_q4_k() {
    check_integer("Q4_K", integer::dot_q4_k);
}

#[test]
fn task_3_q6_k() {
    check_integer("Q6_K", integer::dot_q6_k);
}

// Task 4: one row of activations, and many

#[test]
fn task_4_dot_of_an_unpacked_row() {
    check_unpacked();
}

#[track_caller]
fn check_unpacked() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_unpacked/two_groups");
    let (codes, scales, mins) =
        (numbers(&case, "codes"), numbers(&case, "scales"), numbers(&case, "mins"));
    let row: Vec<Unpacked> = (0..2)
        .map(|g| Unpacked {
            codes: std::array::from_fn(|i| codes[g * GROUP + i] as i8),
            scales: std::array::from_fn(|s| scales[g * GROUP / SUM + s]),
            mins: std::array::from_fn(|s| mins[g * GROUP / SUM + s]),
        })
        .collect();
    let x = groups(&numbers(&case, "values"), &numbers(&case, "x_scales"));
    case.check(
        "products",
        &tensor(&[6], x.chunks_exact(2).map(|x| dot_unpacked(&row, x)).collect()),
    );
}

/// The matrix and the activations of a case.
fn matrix(case: &Case) -> (Matrix, Input) {
    let rows = case.integers("rows").shape()[0];
    let weight =
        Matrix::new(rows, 320, TensorType::Q8_0, bytes(case, "rows").into()).expect("whole blocks");
    let (values, scales) = (case.tensor("values"), case.tensor("scales"));
    let of_row = |t: usize| {
        let row =
            |x: &Tensor| x.index_axis(ndarray::Axis(0), t).iter().copied().collect::<Vec<f32>>();
        groups(&row(&values), &row(&scales))
    };
    let tokens = values.shape()[0];
    // The f32 values would be something else: these functions have no use for them.
    let int8 = (0..tokens).flat_map(of_row).collect();
    let x = input(tokens, 320, int8);
    (weight, x)
}

/// Takes Q8_0 blocks out of their bytes.
fn unpack(bytes: &[u8], row: &mut [Unpacked]) {
    row.fill(Unpacked::default());
    for (b, block) in bytes.chunks_exact(34).enumerate() {
        let group = &mut row[b / 8];
        for (code, &byte) in group.codes[b % 8 * 32..].iter_mut().zip(&block[2..]) {
            *code = byte as i8;
        }
        group.scales[b % 8 * 2..][..2].fill(tiny_llm::week2::blocks::f16_at(block, 0));
    }
}

/// The product of a row of Q8_0 blocks, by its definition.
fn dot(bytes: &[u8], x: &[Int8Group]) -> f32 {
    let mut row = vec![Unpacked::default(); x.len()];
    unpack(bytes, &mut row);
    let weights = row.iter().flat_map(|group| {
        (0..GROUP).map(|i| f64::from(group.scales[i / SUM]) * f64::from(group.codes[i]))
    });
    let activations = x.iter().flat_map(|group| {
        (0..GROUP).map(|i| f64::from(group.scales[i / BLOCK]) * f64::from(group.values[i]))
    });
    weights.zip(activations).map(|(w, x)| w * x).sum::<f64>() as f32
}

#[test]
fn task_4_matrix_vector() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_matrix/q8_0");
    let (weight, x) = matrix(&case);
    let read = Cell::new(0);
    let counting = |row: &[u8], x: &[Int8Group]| {
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
        "matrix_vector read {found} bytes of weights for {} products with a vector, expected \
         {expected}: each once",
        x.rows
    );
}

/// With `-- --nocapture` it prints the counts.
#[test]
fn task_4_counts() {
    let fixtures = fixtures();
    let (weight, x) = matrix(&fixtures.case("task_4_matrix/q8_0"));
    let (bytes, rows) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |row: &[u8]| {
        bytes.fetch_add(row.len(), Relaxed);
        rows.fetch_add(1, Relaxed);
    };
    let take = || (bytes.swap(0, Relaxed), rows.swap(0, Relaxed));
    let counting_dot = |row: &[u8], _: &[Int8Group]| {
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
    println!("{:15}  bytes of weights read  rows unpacked", "");
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
            "{name}: found {bytes} bytes and {rows} rows unpacked, expected {} and {}",
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

/// Tiles of so many rows of activations and so many rows of weights.
#[track_caller]
fn check_matrix_matrix(tile_rows: usize, tile_cols: usize) {
    check_unpacked();
    let fixtures = fixtures();
    let case = fixtures.case("task_4_matrix/q8_0");
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
            "matrix_matrix on the tile of rows {down:?} and columns {across:?}, whose `row_mut(t)` \
             takes t in {down:?} and has {rows} places, 0..{rows}"
        );
        assert_accepts(&what, || matrix_matrix(counting, &weight, &x, tile));
        let found = unpacked.get();
        assert!(
            found == rows,
            "matrix_matrix unpacked {found} rows for a tile of {rows} rows of weights and {tokens} \
             of activations, expected {rows}: each once, for all rows of activations"
        );
    });
    case.check("products", &tensor(&[x.rows, weight.rows], out));
}

#[test]
fn task_4_whatever_the_size() {
    let group = Unpacked { codes: [1; GROUP], scales: [1.0; GROUP / SUM], ..Unpacked::default() };
    let found = dot_unpacked(&vec![group; 8], &groups(&[1.0; 2048], &[1.0; 64]));
    assert!(found == 2048.0, "dot_unpacked of 2048 ones times ones: found {found}, expected 2048");

    // Row r holds its number, activations t hold theirs, so their product is r · t.
    let (rows, tokens) = (300, 100);
    let number = |row: &[u8]| f32::from(u16::from_le_bytes([row[0], row[1]]));
    let bytes: Vec<u8> =
        (0..rows as u16).flat_map(|r| [r.to_le_bytes().as_slice(), &[0; 32]].concat()).collect();
    let weight = Matrix::new(rows, 32, TensorType::Q8_0, bytes.into()).expect("whole blocks");
    let mut out = vec![1000.0; rows];
    matrix_vector(
        |row, _| number(row),
        (0..rows).map(|r| weight.row(r)),
        &groups(&[0.0; GROUP], &[1.0; GROUP / BLOCK]),
        &mut out,
    );
    let wrong = (0..rows).find(|&r| out[r] != r as f32);
    assert!(wrong.is_none(), "matrix_vector over 300 rows: the product of row {wrong:?} is wrong");

    let int8 = (0..tokens).flat_map(|t| {
        let mut values = [0.0; GROUP];
        values[0] = t as f32;
        groups(&values, &[1.0; GROUP / BLOCK])
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
    assert!(
        wrong.is_none(),
        "matrix_matrix on one tile of 300 rows of weights and 100 of activations: product {wrong:?} is wrong, of row {:?} with activations {:?}",
        wrong.map(|i| i % rows),
        wrong.map(|i| i / rows)
    );
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day5.rs"]
mod fresh;

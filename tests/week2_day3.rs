//! Week 2, day 3: blocks of 32 weights in Q8_0, Q4_0 and Q5_0, and the error of a format.
//!
//! Expected values: `python-ref/oracle/week2_day3.py`, which takes them from the `gguf` package.

use std::path::Path;

use tiny_llm::week2::blocks::{
    dequantize_row,
    error::{relative_error, rms_error, round_trip_error},
    f16_at, q4_0, q5_0, q8_0, quantize_row,
};
use tiny_llm_formats::{
    Tensor,
    checkpoint::{Checkpoint, Dtype},
    gguf::TensorType,
    tensor::tensor,
};
use tiny_llm_harness::{
    check::{Part, assert_accepts, assert_panics, compare, resting_on},
    fixtures::{Case, Fixtures},
};

#[path = "week2_day3/edges.rs"]
mod edges;

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day3")
}

/// Reads the blocks of a case; what is not written stays NaN.
#[track_caller]
fn check_dequantize<const BYTES: usize>(
    case: &str,
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; 32]),
) {
    let fixtures = fixtures();
    let case = fixtures.case(case);
    let blocks: Vec<u8> = case.integers("blocks").iter().map(|&byte| byte as u8).collect();
    let (blocks, rest) = blocks.as_chunks::<BYTES>();
    assert!(rest.is_empty(), "the fixture holds whole blocks");
    let mut weights = Vec::new();
    for block in blocks {
        let mut out = [f32::NAN; 32];
        dequantize(block, &mut out);
        weights.extend(out);
    }
    case.check("weights", &tensor(&[blocks.len(), 32], weights));
}

/// Writes the blocks of a case, and compares scale and integers with those of the oracle.
/// `integer(block, i)` is the one of weight `i`.
#[track_caller]
fn check_quantize<const BYTES: usize>(
    case: &str,
    quantize: impl Fn(&[f32; 32]) -> [u8; BYTES],
    integer: impl Fn(&[u8], usize) -> f32,
) {
    let fixtures = fixtures();
    let case = fixtures.case(case);
    let x: Vec<f32> = case.tensor("x").iter().copied().collect();
    let blocks: Vec<[u8; BYTES]> = x.as_chunks().0.iter().map(quantize).collect();
    case.check(
        "scale",
        &tensor(&[blocks.len()], blocks.iter().map(|block| f16_at(block, 0)).collect()),
    );
    let integers = blocks
        .iter()
        .flat_map(|block| (0..32).map(|i| integer(block, i)).collect::<Vec<_>>())
        .collect();
    case.check("integers", &tensor(&[blocks.len(), 32], integers));
}

/// Weight `i`'s four bits in the last 16 bytes of a block.
fn four_bits(block: &[u8], i: usize) -> u8 {
    block[block.len() - 16 + i % 16] >> (i / 16 * 4) & 15
}

// Task 1: Q8_0

#[test]
fn task_1_dequantize_q8_0_of_whole_numbers() {
    check_dequantize("task_1_dequantize/whole", q8_0::dequantize);
}

#[test]
fn task_1_dequantize_q8_0_of_random_bytes() {
    check_dequantize("task_1_dequantize/random", q8_0::dequantize);
}

#[test]
fn task_1_dequantize_q8_0_of_the_model() {
    check_dequantize("task_1_dequantize/model", q8_0::dequantize);
}

#[track_caller]
fn check_q8_0(case: &str) {
    check_quantize(&format!("task_1_quantize/{case}"), q8_0::quantize, |block, i| {
        f32::from(block[2 + i] as i8)
    });
}

#[test]
fn task_1_quantize_q8_0_of_ordinary_weights() {
    check_q8_0("ordinary");
}

#[test]
fn task_1_quantize_q8_0_between_two_integers() {
    check_q8_0("between");
}

#[test]
fn task_1_quantize_q8_0_by_the_scale_before_it_is_rounded() {
    check_q8_0("near");
}

#[test]
fn task_1_quantize_q8_0_of_zeros_and_of_very_small_weights() {
    check_q8_0("little");
}

#[test]
fn task_1_quantize_q8_0_of_the_model() {
    check_q8_0("model");
}

#[test]
fn task_1_quantize_q8_0_with_each_operation_as_prescribed() {
    check_q8_0("prescribed");
}

// Task 2: Q4_0

#[test]
fn task_2_dequantize_q4_0_of_whole_numbers() {
    check_dequantize("task_2_dequantize/whole", q4_0::dequantize);
}

#[test]
fn task_2_dequantize_q4_0_of_random_bytes() {
    check_dequantize("task_2_dequantize/random", q4_0::dequantize);
}

#[test]
fn task_2_dequantize_q4_0_of_the_model() {
    check_dequantize("task_2_dequantize/model", q4_0::dequantize);
}

#[track_caller]
fn check_q4_0(case: &str) {
    check_quantize(&format!("task_2_quantize/{case}"), q4_0::quantize, |block, i| {
        f32::from(four_bits(block, i))
    });
}

#[test]
fn task_2_quantize_q4_0_of_ordinary_weights() {
    check_q4_0("ordinary");
}

#[test]
fn task_2_quantize_q4_0_between_two_integers() {
    check_q4_0("between");
}

#[test]
fn task_2_quantize_q4_0_by_the_scale_before_it_is_rounded() {
    check_q4_0("near");
}

#[test]
fn task_2_quantize_q4_0_of_zeros_and_of_very_small_weights() {
    check_q4_0("little");
}

#[test]
fn task_2_quantize_q4_0_of_the_model() {
    check_q4_0("model");
}

#[test]
fn task_2_quantize_q4_0_with_each_operation_as_prescribed() {
    check_q4_0("prescribed");
}

// Task 3: Q5_0

#[test]
fn task_3_dequantize_q5_0_of_whole_numbers() {
    check_dequantize("task_3_dequantize/whole", q5_0::dequantize);
}

#[test]
fn task_3_dequantize_q5_0_of_random_bytes() {
    check_dequantize("task_3_dequantize/random", q5_0::dequantize);
}

#[test]
fn task_3_dequantize_q5_0_of_the_model() {
    check_dequantize("task_3_dequantize/model", q5_0::dequantize);
}

#[track_caller]
fn check_q5_0(case: &str) {
    let fifth = |block: &[u8], i: usize| block[2 + i / 8] >> (i % 8) & 1;
    check_quantize(&format!("task_3_quantize/{case}"), q5_0::quantize, |block, i| {
        f32::from(four_bits(block, i) + 16 * fifth(block, i))
    });
}

#[test]
fn task_3_quantize_q5_0_of_ordinary_weights() {
    check_q5_0("ordinary");
}

#[test]
fn task_3_quantize_q5_0_between_two_integers() {
    check_q5_0("between");
}

#[test]
fn task_3_quantize_q5_0_by_the_scale_before_it_is_rounded() {
    check_q5_0("near");
}

#[test]
fn task_3_quantize_q5_0_of_zeros_and_of_very_small_weights() {
    check_q5_0("little");
}

#[test]
fn task_3_quantize_q5_0_of_the_model() {
    check_q5_0("model");
}

#[test]
fn task_3_quantize_q5_0_with_each_operation_as_prescribed() {
    check_q5_0("prescribed");
}

// Task 4: the error

/// The formats that an error is taken of.
/// Ones, and one number that needs the whole range: whichever it is, the scale is 1, and all come
/// back as they were. The scale can be any power of two.
#[track_caller]
fn check_largest<const BYTES: usize>(
    largest: f32,
    quantize: impl Fn(&[f32; 32]) -> [u8; BYTES],
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; 32]),
) {
    for power in [0, -12, -20, 8] {
        for i in 0..32 {
            let unit = 2f32.powi(power);
            let mut x = [unit; 32];
            x[i] = largest * unit;
            let mut back = [f32::NAN; 32];
            dequantize(&quantize(&x), &mut back);
            assert!(
                back == x,
                "31 weights of {unit:?} and weight {i} of {:?} come back as {back:?}: the scale is {unit:?}, each weight a whole number of it, and any of the 32 may be the largest",
                x[i]
            );
        }
    }
}

#[test]
fn task_1_quantize_q8_0_wherever_the_largest_stands() {
    check_largest(127.0, q8_0::quantize, q8_0::dequantize);
    check_largest(-127.0, q8_0::quantize, q8_0::dequantize);
}

#[test]
fn task_2_quantize_q4_0_wherever_the_largest_stands() {
    check_largest(-8.0, q4_0::quantize, q4_0::dequantize);
}

#[test]
fn task_3_quantize_q5_0_wherever_the_largest_stands() {
    check_largest(-16.0, q5_0::quantize, q5_0::dequantize);
}

/// Blocks whose scale is 0, byte by byte: of zeros, and of weights so small that the
/// quotient is 0.
#[track_caller]
fn check_without_scale<const BYTES: usize>(
    quantize: impl Fn(&[f32; 32]) -> [u8; BYTES],
    expected: impl Fn(f32) -> [u8; BYTES],
) {
    let smallest = f32::from_bits(1);
    for (what, x) in [
        ("32 zeros", [0.0; 32]),
        ("32 times the smallest f32", [smallest; 32]),
        ("32 times the smallest f32 below 0", [-smallest; 32]),
        ("32 times 2 · the smallest f32", [2.0 * smallest; 32]),
    ] {
        let found = assert_accepts(&format!("quantize {what}"), || quantize(&x));
        let expected = expected(x[0]);
        assert!(
            found == expected,
            "quantize {what}, whose scale is 0\n  found    {found:?}\n  expected {expected:?}: the \
             scale's two bytes, with its sign, then the integers for weights that are multiplied by 0"
        );
    }
}

#[test]
fn task_1_quantize_q8_0_where_the_scale_is_0() {
    check_without_scale(q8_0::quantize, |_| [0; q8_0::BYTES]);
}

/// The scale is the weight divided by a number below 0.
fn sign_of_the_scale(x: f32) -> u8 {
    if x.is_sign_positive() { 0x80 } else { 0 }
}

#[test]
fn task_2_quantize_q4_0_where_the_scale_is_0() {
    check_without_scale(q4_0::quantize, |x| {
        let mut block = [0x88; q4_0::BYTES];
        block[..2].copy_from_slice(&[0, sign_of_the_scale(x)]);
        block
    });
}

#[test]
fn task_3_quantize_q5_0_where_the_scale_is_0() {
    check_without_scale(q5_0::quantize, |x| {
        let mut block = [0; q5_0::BYTES];
        block[1] = sign_of_the_scale(x);
        block[2..6].fill(0xff);
        block
    });
}

const FORMATS: [&Part; 3] = [
    &Part { task: "week2-day3 task 1", what: "Q8_0", check: check_q8_0_both_ways },
    &Part { task: "week2-day3 task 2", what: "Q4_0", check: check_q4_0_both_ways },
    &Part { task: "week2-day3 task 3", what: "Q5_0", check: check_q5_0_both_ways },
];

fn check_q8_0_both_ways() {
    check_dequantize("task_1_dequantize/random", q8_0::dequantize);
    ["ordinary", "between", "little"].into_iter().for_each(check_q8_0);
}

fn check_q4_0_both_ways() {
    check_dequantize("task_2_dequantize/random", q4_0::dequantize);
    ["ordinary", "between", "little"].into_iter().for_each(check_q4_0);
}

fn check_q5_0_both_ways() {
    check_dequantize("task_3_dequantize/random", q5_0::dequantize);
    ["ordinary", "between", "little"].into_iter().for_each(check_q5_0);
}

/// The error of each row, as f32: `x [n, cols]`, `y [n, cols]` → `[n]`.
fn of_rows(case: &Case, error: impl Fn(&[f32], &[f32]) -> f64) -> Tensor {
    let (x, y) = (case.tensor("x"), case.tensor("y"));
    let rows = x.outer_iter().zip(y.outer_iter());
    let errors =
        rows.map(|(x, y)| error(x.as_slice().expect("a row"), y.as_slice().expect("a row")) as f32);
    tensor(&[x.shape()[0]], errors.collect())
}

#[track_caller]
fn check_rms(fixtures: &Fixtures) {
    let case = fixtures.case("task_4_error/rows");
    case.check("rms", &of_rows(&case, rms_error));
}

/// Both errors, in the order in which one is made of the other.
#[track_caller]
fn check_errors(fixtures: &Fixtures) {
    check_rms(fixtures);
    let case = fixtures.case("task_4_error/rows");
    case.check("relative", &of_rows(&case, relative_error));
}

#[test]
fn task_4_rms_error() {
    let fixtures = fixtures();
    check_rms(&fixtures);
}

#[test]
fn task_4_rms_error_of_many_weights() {
    check_rms(&fixtures());
    // Each differs by 1.1f32 − 1, so that is the root of the mean of the squares too.
    let n = 200_000;
    let found = rms_error(&vec![1.0; n], &vec![1.1; n]);
    let expected = f64::from(1.1f32) - 1.0;
    assert!(
        (found - expected).abs() <= 1e-9,
        "rms_error of {n} pairs that all differ by {expected}: found {found}; a sum in f32 loses \
         what is small beside it, so sum in f64"
    );
}

#[test]
fn task_4_rms_error_of_any_size() {
    let zeros = [0.0; 4];
    for (x, expected) in [
        ([f32::INFINITY, 1.0, 1.0, 1.0], f64::INFINITY),
        ([f32::NAN, 1.0, 1.0, 1.0], f64::NAN),
        ([2f32.powi(60), 0.0, 0.0, 0.0], 2f64.powi(59)),
        ([2f32.powi(-60), 0.0, 0.0, 0.0], 2f64.powi(-61)),
    ] {
        let found = rms_error(&x, &zeros);
        assert!(
            found == expected || !found.is_finite() && !expected.is_finite(),
            "rms_error({x:?}, {zeros:?}): found {found:?}, expected {expected:?}: an error that is infinite, or none at all, is told and not hidden"
        );
    }
    let found = relative_error(&[1.0; 4], &[-3.0; 4]);
    assert!(
        found == 4.0,
        "relative_error of ones that come back as −3: found {found:?}, expected 4"
    );
}

#[test]
fn task_4_rms_error_needs_two_rows_of_one_length() {
    check_rms(&fixtures());
    assert_panics("rms_error of 3 weights and 2", || rms_error(&[1.0; 3], &[1.0; 2]));
    assert_panics("rms_error of no weights", || rms_error(&[], &[]));
}

#[test]
fn task_4_relative_error() {
    let fixtures = fixtures();
    check_errors(&fixtures);
}

#[test]
fn task_4_relative_error_of_zeros_that_came_back_is_zero() {
    let found = relative_error(&[0.0; 32], &[0.0; 32]);
    assert!(
        found == 0.0,
        "relative_error of zeros that came back as zeros: found {found}, expected 0, for nothing \
         differs"
    );
    let found = relative_error(&[0.0; 32], &[1.0; 32]);
    assert!(
        found == f64::INFINITY,
        "relative_error of zeros that came back as ones: found {found}, expected infinity: ones \
         are no share of zeros"
    );
}

#[test]
fn task_4_relative_error_needs_two_rows_of_one_length() {
    let fixtures = fixtures();
    check_errors(&fixtures);
    assert_panics("relative_error of [1, 2] and [1]", || relative_error(&[1.0, 2.0], &[1.0]));
    assert_panics("relative_error of [1] and [1, 2]", || relative_error(&[1.0], &[1.0, 2.0]));
    assert_panics("relative_error of zeros, two and one", || relative_error(&[0.0; 2], &[0.0]));
    assert_panics("relative_error of no weights", || relative_error(&[], &[]));
}

#[test]
fn task_4_round_trip_needs_whole_blocks() {
    check_errors(&fixtures());
    for (tensor_type, n) in [
        (TensorType::Q8_0, 33),
        (TensorType::Q8_0, 20),
        (TensorType::Q4_0, 40),
        (TensorType::Q5_0, 63),
        (TensorType::Q4_K, 300),
        (TensorType::Q6_K, 32),
    ] {
        let x: Vec<f32> = (0..n).map(|i| i as f32 - 9.5).collect();
        assert_panics(
            &format!("round_trip_error of {n} weights in {tensor_type}, which are no whole blocks"),
            || round_trip_error(tensor_type, &x),
        );
    }
}

#[test]
fn task_4_round_trip_of_each_format() {
    let fixtures = fixtures();
    check_errors(&fixtures);
    let case = fixtures.case("task_4_round_trip/formats");
    let x = case.tensor("x");
    for name in
        case.value("formats").as_array().expect("a list").iter().filter_map(|name| name.as_str())
    {
        let tensor_type: TensorType = name.parse().expect("a type");
        let found = x
            .outer_iter()
            .map(|row| round_trip_error(tensor_type, row.as_slice().expect("a row")) as f32)
            .collect();
        resting_on(&FORMATS, || case.check(name, &tensor(&[x.shape()[0]], found)));
    }
}

#[test]
fn task_4_more_bits_come_closer() {
    resting_on(&FORMATS, || {
        let fixtures = fixtures();
        let x = fixtures.case("task_4_round_trip/formats").tensor("x");
        let row: Vec<f32> = x.iter().copied().collect();
        let error = |tensor_type| round_trip_error(tensor_type, &row);
        let errors =
            [TensorType::F32, TensorType::Q8_0, TensorType::Q5_0, TensorType::Q4_0].map(error);
        assert!(errors[0] == 0.0, "F32 changes nothing, but its error is {}", errors[0]);
        // Each bit fewer doubles the distance between two integers, and Q8_0 has three more than
        // Q5_0.
        let ratios =
            tensor(&[2], vec![(errors[2] / errors[1]) as f32, (errors[3] / errors[2]) as f32]);
        if let Err(difference) = compare(
            "errors of Q5_0 to Q8_0, and of Q4_0 to Q5_0",
            &ratios,
            &tensor(&[2], vec![8.0, 2.0]),
            0.5,
        ) {
            panic!("{difference}\n  with one bit fewer the integers lie twice as far apart");
        }
    });
}

/// With `-- --nocapture` it prints the table.
#[test]
fn task_4_errors_of_the_embedded_model() {
    let fixtures = fixtures();
    check_errors(&fixtures);
    let case = fixtures.case("task_4_model/down_proj");
    let name = case.value("tensor").as_str().expect("a name").to_owned();
    let shape: Vec<usize> = case
        .value("shape")
        .as_array()
        .expect("sizes")
        .iter()
        .map(|n| n.as_u64().expect("a size") as usize)
        .collect();
    let checkpoint =
        Checkpoint::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story"))
            .expect("the embedded model");
    let stored = checkpoint.tensor(&name, &shape).expect("one of its matrices");
    assert_eq!(stored.dtype, Dtype::BF16, "{name}");
    let x: Vec<f32> =
        stored.bytes.chunks_exact(2).map(|b| f32::from_le_bytes([0, 0, b[0], b[1]])).collect();

    println!("{name} {shape:?}\nformat  bits a weight  relative error");
    let mut errors = Vec::new();
    for format in
        case.value("formats").as_array().expect("a list").iter().filter_map(|name| name.as_str())
    {
        let tensor_type: TensorType = format.parse().expect("a type");
        let error = round_trip_error(tensor_type, &x);
        let bits = 8.0 * tensor_type.block_bytes() as f64 / tensor_type.block_len() as f64;
        println!("{format:<6}  {bits:13.2}  {:12.4} %", 100.0 * error);
        errors.push(error as f32);
    }
    resting_on(&FORMATS, || case.check("errors", &tensor(&[errors.len()], errors)));
}

#[test]
fn task_4_provided_formats() {
    let fixtures = fixtures();
    check_errors(&fixtures);
    let bytes = |case: &Case, name: &str| -> Vec<u8> {
        case.integers(name).iter().map(|&byte| byte as u8).collect()
    };
    let format = |case: &str| -> TensorType {
        case.rsplit('/').next().and_then(|name| name.parse().ok()).expect("a type")
    };
    for name in fixtures.cases("task_4_provided_read/") {
        let (case, tensor_type) = (fixtures.case(&name), format(&name));
        let expected = case.tensor("weights");
        let mut out = vec![f32::NAN; expected.len()];
        dequantize_row(tensor_type, &bytes(&case, "blocks"), &mut out);
        for (i, (found, expected)) in out.iter().zip(&expected).enumerate() {
            assert_eq!(
                found.to_bits(),
                expected.to_bits(),
                "weight {i} in {tensor_type}: found {found:e}, expected {expected:e}"
            );
        }
    }
    for name in fixtures.cases("task_4_provided_written/") {
        let (case, tensor_type) = (fixtures.case(&name), format(&name));
        let (x, expected) = (case.tensor("x"), bytes(&case, "bytes"));
        let mut out = vec![0; expected.len()];
        quantize_row(tensor_type, x.as_slice().expect("in one piece"), &mut out);
        assert_eq!(out, expected, "a row in {tensor_type}");
    }
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day3.rs"]
mod fresh;

//! Week 2, day 3, task 4: errors of formats, and their bits per weight.

use super::*;

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

/// Returns the error between the rows of two inputs, as f32: `x [n, cols]`, `y [n, cols]` → `[n]`.
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

/// Checks both error functions. `relative_error` may use `rms_error`, which is checked first.
#[track_caller]
fn check_errors(fixtures: &Fixtures) {
    check_rms(fixtures);
    let case = fixtures.case("task_4_error/rows");
    case.check("relative", &of_rows(&case, relative_error));
}

#[test]
fn task_4_rms_error() {
    check_rms(&fixtures());
}

#[test]
fn task_4_rms_error_of_many_weights() {
    check_rms(&fixtures());
    // Every pair differs by 1.1f32 − 1, so that is also the root mean square.
    let n = 200_000;
    let found = rms_error(&vec![1.0; n], &vec![1.1; n]);
    let expected = f64::from(1.1f32) - 1.0;
    assert!(
        (found - expected).abs() <= 1e-9,
        "rms_error of {n} pairs that all differ by {expected}: found {found}, expected {expected}. \
         A sum in f32 loses small terms, so sum in f64"
    );
}

#[test]
fn task_4_rms_error_edge_cases() {
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
            "rms_error({x:?}, {zeros:?}): found {found:?}, expected {expected:?}: return the error \
             as it is, even if it is infinite, NaN or tiny"
        );
    }
    let found = relative_error(&[1.0; 4], &[-3.0; 4]);
    assert!(
        found == 4.0,
        "relative_error of four weights of 1 that come back as −3: found {found:?}, expected 4"
    );
}

#[test]
fn task_4_relative_error() {
    check_errors(&fixtures());
}

#[test]
fn task_4_relative_error_of_zeros() {
    let found = relative_error(&[0.0; 32], &[0.0; 32]);
    assert!(
        found == 0.0,
        "relative_error of zeros that come back as zeros: found {found}, expected 0, because \
         nothing differs"
    );
    let found = relative_error(&[0.0; 32], &[1.0; 32]);
    assert!(
        found == f64::INFINITY,
        "relative_error of zeros that come back as ones: found {found}, expected infinity, because \
         it is divided by 0"
    );
}

#[test]
fn task_4_round_trip_error_of_each_format() {
    let fixtures = fixtures();
    check_errors(&fixtures);
    let case = fixtures.case("task_4_round_trip/formats");
    let x = case.tensor("x");
    for name in case.read::<Vec<String>>("formats") {
        let tensor_type: TensorType = name.parse().expect("a type");
        let found = x
            .outer_iter()
            .map(|row| round_trip_error(tensor_type, row.as_slice().expect("a row")) as f32)
            .collect();
        resting_on(&FORMATS, || case.check(&name, &tensor(&[x.shape()[0]], found)));
    }
}

#[test]
fn task_4_round_trip_error_doubles_with_one_bit_less() {
    resting_on(&FORMATS, || {
        let x = fixtures().case("task_4_round_trip/formats").tensor("x");
        let row: Vec<f32> = x.iter().copied().collect();
        let error = |tensor_type| round_trip_error(tensor_type, &row);
        let errors =
            [TensorType::F32, TensorType::Q8_0, TensorType::Q5_0, TensorType::Q4_0].map(error);
        assert!(errors[0] == 0.0, "round_trip_error in F32: found {}, expected 0", errors[0]);
        // One bit less doubles the step between integers, and Q8_0 has three bits more than Q5_0.
        let ratios =
            tensor(&[2], vec![(errors[2] / errors[1]) as f32, (errors[3] / errors[2]) as f32]);
        assert_close_because(
            "ratios of errors: Q5_0 to Q8_0, and Q4_0 to Q5_0",
            &ratios,
            &tensor(&[2], vec![8.0, 2.0]),
            0.5,
            "with one bit less the step between integers doubles, and so does the error",
        );
    });
}

/// Prints a table with `-- --nocapture`.
#[test]
fn task_4_round_trip_error_of_embedded_model() {
    let fixtures = fixtures();
    check_errors(&fixtures);
    let case = fixtures.case("task_4_model/down_proj");
    let (name, shape): (String, Vec<usize>) = (case.read("tensor"), case.read("shape"));
    let checkpoint =
        Checkpoint::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story"))
            .expect("the embedded model");
    let stored = checkpoint.tensor(&name, &shape).expect("one of its matrices");
    assert_eq!(stored.dtype, Dtype::BF16, "{name}");
    let x: Vec<f32> =
        stored.bytes.chunks_exact(2).map(|b| f32::from_le_bytes([0, 0, b[0], b[1]])).collect();

    println!("{name} {shape:?}\nformat  bits per weight  relative error");
    let mut errors = Vec::new();
    for format in case.read::<Vec<String>>("formats") {
        let tensor_type: TensorType = format.parse().expect("a type");
        let error = round_trip_error(tensor_type, &x);
        let bits = 8.0 * tensor_type.block_bytes() as f64 / tensor_type.block_len() as f64;
        println!("{format:<6}  {bits:15.2}  {:12.4} %", 100.0 * error);
        errors.push(error as f32);
    }
    resting_on(&FORMATS, || case.check("errors", &tensor(&[errors.len()], errors)));
}

#[test]
fn task_4_provided_formats() {
    let fixtures = fixtures();
    check_errors(&fixtures);
    let format = |case: &str| -> TensorType {
        case.rsplit('/').next().and_then(|name| name.parse().ok()).expect("a type")
    };
    for name in fixtures.cases("task_4_provided_read/") {
        let (case, tensor_type) = (fixtures.case(&name), format(&name));
        let expected = case.tensor("weights");
        let mut out = vec![f32::NAN; expected.len()];
        dequantize_row(tensor_type, &case.bytes("blocks"), &mut out);
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
        let (x, expected) = (case.tensor("x"), case.bytes("bytes"));
        let mut out = vec![0; expected.len()];
        quantize_row(tensor_type, x.as_slice().expect("in one piece"), &mut out);
        assert_eq!(out, expected, "bytes of a row in {tensor_type}");
    }
}

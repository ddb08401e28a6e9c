//! Week 4, day 7, task 1: rows of whole numbers.

use tiny_llm::week4::streamed::{
    int8::{MOST_INT8, MOST_INT16},
    math::round,
};

use super::*;

/// Quantizes the rows of a case one by one, and compares scales and integers.
fn check_rows<T: Copy + Default + Into<f32>>(
    case: &str,
    name: &str,
    quantize: fn(&[f32], &mut [T]) -> f32,
) {
    let case = fixtures().case(case);
    let x = case.tensor("x");
    let (mut q, mut scales) = (Vec::new(), Vec::new());
    for row in x.outer_iter() {
        let row: Vec<f32> = row.iter().copied().collect();
        let mut out = vec![T::default(); row.len()];
        let scale = check::assert_accepts(&format!("{name}({row:?})"), || quantize(&row, &mut out));
        q.extend(out.into_iter().map(Into::<f32>::into));
        scales.push(scale);
    }
    case.check("scale", &tensor(&[scales.len()], scales));
    case.check("q", &tensor(x.shape(), q));
}

/// Checks a row so small that 1 / scale is infinite. A solution that multiplies by 1 / scale gets
/// the integers `multiplied`.
#[track_caller]
fn assert_tiny<T: Copy + PartialEq + std::fmt::Debug>(
    call: &str,
    most: &str,
    found: (f32, [T; 4]),
    expected: (f32, [T; 4]),
    multiplied: [T; 4],
) {
    assert!(
        found.1 != multiplied,
        "{call}\n  found    {found:?}\n  expected {expected:?}\n  diagnosis You multiply by {most} \
         / largest, which is infinite for a row this small. Divide by the scale."
    );
    check::assert_answer(call, &found, &expected);
}

#[test]
pub(super) fn task_1_quantize_int8_matches_pytorch() {
    check_rows::<i8>("task_1_int8/rows", "quantize_int8", quantize_int8);
    let mut out = [7; 3];
    let scale = quantize_int8(&[0.0, -0.0, 0.0], &mut out);
    check::assert_answer("quantize_int8([0, -0, 0]) into [7, 7, 7]", &(scale, out), &(0.0, [0; 3]));
    // 1 / scale is too large for an f32.
    let step = f32::from_bits(1 << 19);
    let mut out = [7; 4];
    let tiny = [50.0, -127.0, 0.0, -3.0].map(|x| x * step);
    let scale = quantize_int8(&tiny, &mut out);
    let call = format!("quantize_int8 of [50, -127, 0, -3] times {step:e}");
    let multiplied = tiny.map(|x| round(x * (MOST_INT8 / (MOST_INT8 * step))) as i8);
    assert_tiny(&call, "127", (scale, out), (step, [50, -127, 0, -3]), multiplied);
    check::assert_panics("quantize_int8 of 3 numbers into 2", || {
        quantize_int8(&[1.0; 3], &mut [0; 2])
    });
}

/// The scale of such a row is rounded so much that a quotient exceeds the largest integer.
#[test]
fn task_1_quantize_clamps_values_of_tiny_rows() {
    let step = f32::from_bits(1);
    let mut out = [7; 2];
    let scale = quantize_int8(&[190.0 * step, -100.0 * step], &mut out);
    let call = "quantize_int8 of [190, -100] times 2⁻¹⁴⁹, clamped to ±127";
    check::assert_answer(call, &(scale, out), &(step, [127, -100]));
    let mut out = [7; 2];
    let scale = quantize_int16(&[-49_000.0 * step, 100.0 * step], &mut out);
    let call = "quantize_int16 of [-49000, 100] times 2⁻¹⁴⁹, clamped to ±32767";
    check::assert_answer(call, &(scale, out), &(step, [-32_767, 100]));
}

#[test]
fn task_1_quantize_returns_nan_scale_for_non_finite_input() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in 0..4 {
            let mut x = [1.0, -2.0, 0.5, 0.0];
            x[at] = bad;
            let scales = [quantize_int8(&x, &mut [0; 4]), quantize_int16(&x, &mut [0; 4])];
            assert!(
                scales.iter().all(|scale| scale.is_nan()),
                "quantize_int8 and quantize_int16 with {bad} at {at}: the scales\n  found    \
                 {scales:?}\n  expected [NaN, NaN]"
            );
        }
    }
}

#[test]
pub(super) fn task_1_quantize_int16_matches_pytorch() {
    check_rows::<i16>("task_1_int16/rows", "quantize_int16", quantize_int16);
    let mut out = [7; 3];
    let scale = quantize_int16(&[0.0, -0.0, 0.0], &mut out);
    check::assert_answer(
        "quantize_int16([0, -0, 0]) into [7, 7, 7]",
        &(scale, out),
        &(0.0, [0; 3]),
    );
    let step = f32::from_bits(1 << 9);
    let mut out = [7; 4];
    let tiny = [-1000.0, 32_767.0, 0.0, -3.0].map(|x| x * step);
    let scale = quantize_int16(&tiny, &mut out);
    let call = format!("quantize_int16 of [-1000, 32767, 0, -3] times {step:e}");
    let multiplied = tiny.map(|x| round(x * (MOST_INT16 / (MOST_INT16 * step))) as i16);
    assert_tiny(&call, "32,767", (scale, out), (step, [-1000, 32_767, 0, -3]), multiplied);
    check::assert_panics("quantize_int16 of 2 numbers into 3", || {
        quantize_int16(&[1.0; 2], &mut [0; 3])
    });
}

#[test]
pub(super) fn task_1_dot_returns_exact_sums() {
    let case = fixtures().case("task_1_dot/numbers");
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for row in case.value("rows").as_array().expect("rows") {
        let numbers = |i: usize| row[i].as_array().expect("numbers").iter();
        let weights: Vec<i8> = numbers(0).map(|x| x.as_i64().expect("a number") as i8).collect();
        let x: Vec<i16> = numbers(1).map(|x| x.as_i64().expect("a number") as i16).collect();
        let shown = |list: &[i64]| match list {
            [a, b, _, _, ..] => format!("[{a}, {b}, …; {} numbers]", list.len()),
            few => format!("{few:?}"),
        };
        let call = format!(
            "dot({}, {})",
            shown(&weights.iter().map(|x| i64::from(*x)).collect::<Vec<_>>()),
            shown(&x.iter().map(|x| i64::from(*x)).collect::<Vec<_>>())
        );
        found.push(check::assert_accepts(&call, || dot(&weights, &x)));
        expected.push(row[2].as_i64().expect("a sum"));
    }
    check::assert_answer("dot of several rows", &found, &expected);
    check::assert_panics("dot of 3 weights and 2 activations", || dot(&[1; 3], &[1; 2]));
    // The largest possible sum, in a row that is longer than any here.
    let n = 1 << 16;
    for (w, x) in [(127, 32_767), (-128, -32_768), (-128, 32_767), (127, -32_768)] {
        let call = format!("dot of {n} times {w} and {x}");
        let found = check::assert_accepts(&call, || dot(&vec![w; n], &vec![x; n]));
        check::assert_answer(&call, &found, &(n as i64 * i64::from(w) * i64::from(x)));
    }
}

//! Week 1, day 1, task 1: softmax.

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::attention::{linear, softmax};
use tiny_llm_formats::{
    Tensor,
    tensor::{reshape, tensor},
};
use tiny_llm_harness::{
    check::{
        assert_accepts, assert_agrees, assert_any_layout, assert_close, assert_close_because,
        assert_panics,
    },
    fixtures::random,
};

use super::{OFF, fixtures};

#[track_caller]
fn check_softmax(case: &str) {
    let case = fixtures().case(&format!("task_1_softmax/{case}"));
    case.check("output", &softmax(&case.tensor("x")));
}

#[test]
fn task_1_softmax_normalises_each_row() {
    check_softmax("signed");
}

#[test]
fn task_1_softmax_normalises_the_last_of_four_axes() {
    check_softmax("batched");
}

#[test]
fn task_1_softmax_of_large_numbers_does_not_overflow() {
    check_softmax("large");
}

#[test]
fn task_1_softmax_of_very_negative_numbers_does_not_underflow() {
    check_softmax("very_negative");
}

#[test]
fn task_1_softmax_of_a_fully_masked_row_is_zero() {
    check_softmax("masked");
}

#[test]
fn task_1_softmax_of_one_visible_entry_is_exactly_one() {
    #[rustfmt::skip]
    let x = tensor(&[3, 3], vec![
        3.0, OFF, OFF,
        OFF, OFF, -50.0,
        OFF, 40.0, OFF,
    ]);
    #[rustfmt::skip]
    let expected = tensor(&[3, 3], vec![
        1.0, 0.0, 0.0,
        0.0, 0.0, 1.0,
        0.0, 1.0, 0.0,
    ]);
    let found = softmax(&x);
    for (x, y) in x.iter().zip(&found) {
        let tiny = *y != 0.0 && y.abs() < 1e-6;
        assert!(
            *x > OFF || !tiny,
            "softmax gives {y:?} for an element of −inf, expected 0: e^(−∞) is exactly 0"
        );
    }
    // e⁰ = 1, and 1/1 is 1 without any rounding.
    assert_close("softmax of rows with only one element that is not −inf", &found, &expected, 0.0);
}

#[test]
fn task_1_softmax_rows_sum_to_one() {
    let y = softmax(&random(1, &[2, 3, 7]));
    // 7 additions of numbers below 1, each off by at most 2⁻²⁴, and the same again in the
    // quotients.
    assert_close(
        "sums of softmax over the last axis",
        &y.sum_axis(Axis(2)),
        &Tensor::ones(IxDyn(&[2, 3])),
        16.0 * f32::EPSILON / 2.0,
    );
}

#[test]
fn task_1_softmax_is_shift_invariant() {
    let x = random(2, &[4, 6]);
    // x + 64 is rounded to multiples of 2⁻¹⁸. This error of the exponent is also the relative error
    // of the result.
    let property = "a constant added to a whole row cancels out in the quotient, so the results \
                    must be equal";
    assert_agrees(
        "softmax(x + 64), compared with softmax(x)",
        &softmax(&(&x + 64.0)),
        &softmax(&x),
        1e-5,
        property,
    );
}

#[test]
fn task_1_softmax_is_independent_of_earlier_calls() {
    let x = random(3, &[3, 5]);
    let first = softmax(&x);
    let _ = softmax(&random(4, &[3, 5]));
    let property = "a result must not depend on earlier calls, so both must be equal to the last \
                    bit";
    assert_agrees(
        "the second softmax of the same x, compared with the first",
        &softmax(&x),
        &first,
        0.0,
        property,
    );
}

#[test]
fn task_1_softmax_in_any_layout() {
    // Seven numbers below 1, added up in any order.
    assert_any_layout("softmax", &random(16, &[2, 3, 7]), 1e-6, softmax);
}

/// Many rows, long rows and tiny weights must all be right.
#[test]
fn task_1_softmax_is_accurate_for_large_inputs() {
    let (rows, columns) = (130, 300);
    let step = 80.0 / columns as f32;
    // In each row the numbers fall from 0 to −80, starting in a different column.
    let place = |row: usize, column: usize| (column + 7 * row + 1) % columns;
    let x = Tensor::from_shape_fn(vec![rows, columns], |at| -step * place(at[0], at[1]) as f32);
    let exact: Vec<f64> = (0..columns).map(|i| f64::from(-step * i as f32).exp()).collect();
    let sum: f64 = exact.iter().sum();
    let found = softmax(&x);
    assert_eq!(
        found.shape(),
        x.shape(),
        "softmax of x [{rows}, {columns}]: the result has the wrong shape"
    );
    for row in 0..rows {
        for column in 0..columns {
            let expected = exact[place(row, column)] / sum;
            let found = f64::from(found[[row, column]]);
            // Relative to each weight: an exponent of −80 is off by 2⁻¹⁸, and 300 terms are added
            // up.
            assert!(
                (found - expected).abs() <= 3e-5 * expected,
                "softmax of x [{rows}, {columns}] at [{row}, {column}]: found {found:e}, expected \
                 {expected:e}\n  tiny weights must be right too, with any number of rows and \
                 columns"
            );
        }
    }
}

#[test]
fn task_1_softmax_of_single_row_and_empty_inputs() {
    let x = random(20, &[1, 5]);
    let expected = softmax(&x).index_axis_move(Axis(0), 0);
    let row = x.index_axis_move(Axis(0), 0);
    let found = assert_accepts("softmax of a single row [5]", || softmax(&row));
    let property = "a single row must give the same result as the same row in a matrix";
    assert_agrees("softmax of a single row [5]", &found, &expected, 1e-6, property);
    for shape in [&[0, 3][..], &[3, 0], &[2, 0, 4], &[0]] {
        let what = format!("softmax of x {shape:?}, which has no elements");
        let found = assert_accepts(&what, || softmax(&Tensor::zeros(shape)));
        assert_eq!(found.shape(), shape, "{what}: the result has the wrong shape");
    }
}

// Task 1: linear

#[track_caller]
fn check_linear(case: &str) {
    let case = fixtures().case(&format!("task_1_linear/{case}"));
    case.check(
        "output",
        &linear(&case.tensor("x"), &case.tensor("weight"), case.get("bias").as_ref()),
    );
}

#[test]
fn task_1_linear_with_bias() {
    check_linear("bias");
}

#[test]
fn task_1_linear_without_bias() {
    check_linear("no_bias");
}

#[test]
fn task_1_linear_transposes_square_weight() {
    check_linear("square");
}

#[test]
fn task_1_linear_multiplies_x_by_weight_rows() {
    let x = tensor(&[1, 2], vec![1.0, 10.0]);
    let weight = tensor(&[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let expected = tensor(&[1, 3], vec![21.0, 43.0, 65.0]);
    assert_close("[1, 10] · [[1, 2], [3, 4], [5, 6]]ᵀ", &linear(&x, &weight, None), &expected, 0.0);
}

#[test]
fn task_1_linear_takes_any_number_of_leading_axes() {
    let (weight, bias) = (random(18, &[6, 5]), random(19, &[6]));
    let rows = linear(&random(17, &[24, 5]), &weight, Some(&bias));
    for lead in [&[4, 6][..], &[2, 3, 4], &[2, 2, 3, 2]] {
        let shape = |width: usize| [lead, &[width]].concat();
        let what = format!("linear: x {:?}, weight [6, 5]", shape(5));
        let x = reshape(&random(17, &[24, 5]), &shape(5));
        let found = assert_accepts(&what, || linear(&x, &weight, Some(&bias)));
        let property = "every axis but the last is a batch axis: each row is multiplied separately";
        // Five products, in any order.
        assert_agrees(
            &format!("{what}, compared with the same rows as x [24, 5]"),
            &found,
            &reshape(&rows, &shape(6)),
            1e-5,
            property,
        );
    }
}

#[test]
fn task_1_linear_in_any_layout() {
    let (weight, bias) = (random(18, &[6, 5]), random(19, &[6]));
    assert_any_layout("linear", &random(17, &[2, 3, 5]), 1e-5, |x| linear(x, &weight, Some(&bias)));
    let x = random(17, &[2, 3, 5]);
    assert_any_layout("linear with a weight", &weight, 1e-5, |weight| linear(&x, weight, None));
}

#[test]
fn task_1_linear_panics_on_width_mismatch() {
    let (x, weight) = (random(5, &[2, 3]), random(6, &[3, 4]));
    assert_panics("linear: x [2, 3], weight [3, 4]", || linear(&x, &weight, None));
    // The mismatch must be rejected even if one of the two would broadcast.
    let (x, weight) = (random(5, &[2, 1]), random(6, &[3, 4]));
    assert_panics("linear: x [2, 1], weight [3, 4]", || linear(&x, &weight, None));
    let (x, weight) = (random(5, &[2, 4]), random(6, &[3, 1]));
    assert_panics("linear: x [2, 4], weight [3, 1]", || linear(&x, &weight, None));
}

#[test]
fn task_1_linear_panics_on_1d_input() {
    let (x, weight) = (random(5, &[4]), random(6, &[3, 4]));
    assert_panics("linear: x [4], which has only one axis, weight [3, 4]", || {
        linear(&x, &weight, None)
    });
}

#[test]
fn task_1_linear_with_one_and_many_rows() {
    // Whole numbers below 2²⁴, so nothing is rounded.
    let (width, out) = (300, 70);
    let weight = Tensor::from_shape_fn(vec![out, width], |at| at[0] as f32);
    let bias = Tensor::from_shape_fn(vec![out], |at| at[0] as f32 + 5.0);
    for rows in [1, 130] {
        let x = Tensor::from_shape_fn(vec![rows, width], |at| at[0] as f32 + 1.0);
        let expected = Tensor::from_shape_fn(vec![rows, out], |at| {
            width as f32 * at[1] as f32 * (at[0] as f32 + 1.0) + at[1] as f32 + 5.0
        });
        // Without diagnosis: with weights this regular, several mistakes give the same result.
        assert_close_because(
            &format!("linear: x [{rows}, {width}], weight [{out}, {width}], and a bias"),
            &linear(&x, &weight, Some(&bias)),
            &expected,
            0.0,
            "multiply every row of x and add the bias to it, whether x has one row or many",
        );
    }
}

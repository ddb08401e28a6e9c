//! Week 1, day 1: softmax and linear, scaled dot-product attention, multi-head attention.
//!
//! Failures are printed in the order of the names, so the names of a task put the plain cases
//! first.

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::attention::{
    MultiHeadAttention, linear, merge_heads, scaled_dot_product_attention, softmax, split_heads,
};
use tiny_llm_formats::{
    Tensor,
    tensor::{reshape, tensor},
};
use tiny_llm_harness::{
    check::{
        assert_accepts, assert_agrees, assert_any_layout, assert_close, assert_panics, compare,
        resting_on,
    },
    fixtures::{Case, Fixtures, random},
};

mod parts;

const OFF: f32 = f32::NEG_INFINITY;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day1")
}

// Task 1: softmax

#[track_caller]
fn check_softmax(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_softmax/{case}"));
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
fn task_1_softmax_of_very_negative_numbers_does_not_vanish() {
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
        assert!(*x > OFF || !tiny, "softmax of −inf gives {y:?}, expected 0: e^(−∞) is exactly 0");
    }
    // e⁰ = 1, and 1/1 is 1 without any rounding.
    assert_close("softmax of rows of which one entry is not −inf", &found, &expected, 0.0);
}

#[test]
fn task_1_softmax_rows_sum_to_one() {
    let y = softmax(&random(1, &[2, 3, 7]));
    // 7 additions of numbers below 1, each off by at most 2⁻²⁴, and as much again in the quotients.
    assert_close(
        "sums over the last axis",
        &y.sum_axis(Axis(2)),
        &Tensor::ones(IxDyn(&[2, 3])),
        16.0 * f32::EPSILON / 2.0,
    );
}

#[test]
fn task_1_softmax_stays_the_same_when_a_constant_is_added() {
    let x = random(2, &[4, 6]);
    // x + 64 is rounded to multiples of 2⁻¹⁸, and that error of the exponent is one of the result.
    let property = "a constant added to a whole row cancels in the ratio, so they must be equal";
    assert_agrees(
        "softmax(x + 64), compared with softmax(x)",
        &softmax(&(&x + 64.0)),
        &softmax(&x),
        1e-5,
        property,
    );
}

#[test]
fn task_1_softmax_twice_gives_the_same() {
    let x = random(3, &[3, 5]);
    let first = softmax(&x);
    let _ = softmax(&random(4, &[3, 5]));
    let property = "nothing of an earlier call may remain, so they must be the same to the bit";
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

/// No row is too far down, no element too far right, no weight too small to be right.
#[test]
fn task_1_softmax_whatever_the_size() {
    let (rows, columns) = (130, 300);
    let step = 80.0 / columns as f32;
    // In each row the numbers fall from 0 to −80, beginning in another column.
    let place = |row: usize, column: usize| (column + 7 * row + 1) % columns;
    let x = Tensor::from_shape_fn(vec![rows, columns], |at| -step * place(at[0], at[1]) as f32);
    let exact: Vec<f64> = (0..columns).map(|i| f64::from(-step * i as f32).exp()).collect();
    let sum: f64 = exact.iter().sum();
    let found = softmax(&x);
    assert_eq!(found.shape(), x.shape(), "the shape of softmax of x [{rows}, {columns}]");
    for row in 0..rows {
        for column in 0..columns {
            let expected = exact[place(row, column)] / sum;
            let found = f64::from(found[[row, column]]);
            // Of each weight itself: an exponent of −80 is off by 2⁻¹⁸, and 300 terms are added up.
            assert!(
                (found - expected).abs() <= 3e-5 * expected,
                "softmax of x [{rows}, {columns}] at [{row}, {column}]: found {found:e}, expected {expected:e}\n  a weight may be small and still counts, and rows and columns have no limit"
            );
        }
    }
}

#[test]
fn task_1_softmax_of_any_shape() {
    let x = random(20, &[1, 5]);
    let expected = softmax(&x).index_axis_move(Axis(0), 0);
    let row = x.index_axis_move(Axis(0), 0);
    let found = assert_accepts("softmax of a single row [5]", || softmax(&row));
    let property = "a row alone is what it is among others";
    assert_agrees("softmax of a single row [5]", &found, &expected, 1e-6, property);
    for shape in [&[0, 3][..], &[3, 0], &[2, 0, 4], &[0]] {
        let what = format!("softmax of x {shape:?}, in which there are no numbers");
        let found = assert_accepts(&what, || softmax(&Tensor::zeros(shape)));
        assert_eq!(found.shape(), shape, "{what}: the shape of the result");
    }
}

#[test]
fn task_1_softmax_passes_a_nan_on() {
    let y = softmax(&tensor(&[1, 3], vec![1.0, f32::NAN, 2.0]));
    assert!(
        y.iter().any(|y| y.is_nan()),
        "softmax of 1, NaN, 2: found {y}, expected a NaN: whoever reads numbers never learns that one was lost"
    );
}

// Task 1: linear

#[track_caller]
fn check_linear(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_linear/{case}"));
    case.check(
        "output",
        &linear(&case.tensor("x"), &case.tensor("weight"), case.get("bias").as_ref()),
    );
}

#[test]
fn task_1_linear_with_a_bias() {
    check_linear("bias");
}

#[test]
fn task_1_linear_without_bias() {
    check_linear("no_bias");
}

#[test]
fn task_1_linear_transposes_a_square_weight_too() {
    check_linear("square");
}

#[test]
fn task_1_linear_dots_x_with_the_rows_of_the_weight() {
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
        let property = "all axes but the last are rows, and each row is multiplied by itself";
        // Five products, in any order.
        assert_agrees(
            &format!("{what}, compared with the same 24 rows in two axes"),
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
fn task_1_linear_refuses_a_weight_of_another_width() {
    let (x, weight) = (random(5, &[2, 3]), random(6, &[3, 4]));
    assert_panics("linear: x [2, 3], weight [3, 4]", || linear(&x, &weight, None));
    // Also where one of the two would broadcast.
    let (x, weight) = (random(5, &[2, 1]), random(6, &[3, 4]));
    assert_panics("linear: x [2, 1], weight [3, 4]", || linear(&x, &weight, None));
    let (x, weight) = (random(5, &[2, 4]), random(6, &[3, 1]));
    assert_panics("linear: x [2, 4], weight [3, 1]", || linear(&x, &weight, None));
}

#[test]
fn task_1_linear_refuses_a_single_axis() {
    let (x, weight) = (random(5, &[4]), random(6, &[3, 4]));
    assert_panics("linear: x [4], which has one axis, weight [3, 4]", || linear(&x, &weight, None));
}

#[test]
fn task_1_linear_whatever_the_size() {
    // Whole numbers below 2²⁴, so nothing is rounded.
    let (width, out) = (300, 70);
    let weight = Tensor::from_shape_fn(vec![out, width], |at| at[0] as f32);
    let bias = Tensor::from_shape_fn(vec![out], |at| at[0] as f32 + 5.0);
    for rows in [1, 130] {
        let x = Tensor::from_shape_fn(vec![rows, width], |at| at[0] as f32 + 1.0);
        let expected = Tensor::from_shape_fn(vec![rows, out], |at| {
            width as f32 * at[1] as f32 * (at[0] as f32 + 1.0) + at[1] as f32 + 5.0
        });
        // Without diagnosis: other mistakes give the same for weights that are all alike.
        compare(
            &format!("linear: x [{rows}, {width}], weight [{out}, {width}], and a bias"),
            &linear(&x, &weight, Some(&bias)),
            &expected,
            0.0,
        )
        .unwrap_or_else(|text| {
            panic!("{text}\n  every row of x counts, one alone or many, and gets the bias")
        });
    }
}

// Task 2: scaled dot-product attention

#[track_caller]
fn check_attention(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_2_attention/{case}"));
    let scale = case.value("scale").as_f64().map(|scale| scale as f32);
    resting_on(&[parts::SOFTMAX], || {
        let found = scaled_dot_product_attention(
            &case.tensor("q"),
            &case.tensor("k"),
            &case.tensor("v"),
            scale,
            case.get("mask").as_ref(),
        );
        case.check("output", &found);
    });
}

/// Attention with a mask, of which every query sees at least one key. A result that is NaN
/// throughout could come of anything, so it is refused here and not compared.
#[track_caller]
fn masked_attention(q: &Tensor, k: &Tensor, v: &Tensor, mask: &Tensor) -> Tensor {
    let found = scaled_dot_product_attention(q, k, v, None, Some(mask));
    let wrong = found.iter().filter(|x| !x.is_finite()).count();
    let n = found.len();
    assert!(
        wrong == 0,
        "every query sees a key, but {wrong} of {n} outputs are NaN or infinite: −inf in the mask \
         must become a weight of 0"
    );
    found
}

#[test]
fn task_2_attention_at_the_default_scale() {
    check_attention("plain");
}

#[test]
fn task_2_attention_in_two_axes() {
    check_attention("two_axes");
}

#[test]
fn task_2_attention_given_a_scale_over_four_axes() {
    check_attention("scale_given");
}

#[test]
fn task_2_attention_mask_at_minus_infinity_removes_keys() {
    check_attention("mask_removes");
}

#[test]
fn task_2_attention_mask_is_added_after_the_scale() {
    check_attention("mask_biases");
}

#[test]
fn task_2_attention_of_a_query_that_sees_nothing_is_zero() {
    check_attention("masked_row");
}

#[test]
fn task_2_attention_survives_large_scores() {
    check_attention("large_scores");
}

#[test]
fn task_2_attention_masked_keys_and_values_do_not_matter() {
    let (q, k, v) = (random(7, &[2, 3, 8]), random(8, &[2, 5, 8]), random(9, &[2, 5, 8]));
    let mut mask = Tensor::zeros(IxDyn(&[3, 5]));
    mask.index_axis_mut(Axis(1), 2).fill(f32::NEG_INFINITY);
    let before = masked_attention(&q, &k, &v, &mask);

    let (mut other_k, mut other_v) = (k.clone(), v.clone());
    other_k.index_axis_mut(Axis(1), 2).mapv_inplace(|x| 7.0 - 3.0 * x);
    other_v.index_axis_mut(Axis(1), 2).mapv_inplace(|x| 1000.0 - 3.0 * x);
    let after = masked_attention(&q, &other_k, &other_v, &mask);
    let what = "attention after key 2 and value 2, masked for every query, were changed, compared \
                with before";
    assert_agrees(
        what,
        &after,
        &before,
        0.0,
        "a key at −inf has no influence, whatever it and its value hold",
    );
}

#[test]
fn task_2_attention_over_one_visible_key_is_its_value() {
    let (q, k, v) = (random(10, &[4, 8]), random(11, &[4, 8]), random(12, &[4, 8]));
    let mut mask = Tensor::from_elem(IxDyn(&[4, 4]), f32::NEG_INFINITY);
    for i in 0..4 {
        mask[[i, 3 - i]] = 0.0;
    }
    let mut reversed = v.clone();
    reversed.invert_axis(Axis(0));
    // The one weight is 1 and all others are 0, so no rounding is involved.
    assert_close(
        "query i sees key 3 − i alone",
        &masked_attention(&q, &k, &v, &mask),
        &reversed,
        0.0,
    );
}

/// Of a single key, too, a query may see nothing.
#[test]
fn task_2_attention_over_one_key_that_some_do_not_see() {
    let (q, k, v) = (random(10, &[3, 8]), random(11, &[1, 8]), random(12, &[1, 8]));
    let mask = tensor(&[3, 1], vec![0.0, OFF, 0.0]);
    let expected = Tensor::from_shape_fn(vec![3, 8], |at| [1.0, 0.0, 1.0][at[0]] * v[[0, at[1]]]);
    compare(
        "three queries and one key, which the second query does not see",
        &scaled_dot_product_attention(&q, &k, &v, None, Some(&mask)),
        &expected,
        0.0,
    )
    .unwrap_or_else(|text| {
        panic!(
            "{text}\n  a query that sees the one key gets its value, one that does not gets zeros"
        )
    });
}

/// As arrays broadcast: axes are counted from the right, and one that is missing or 1 stands for
/// all.
#[test]
fn task_2_attention_mask_of_any_shape_that_broadcasts() {
    let (q, k, v) =
        (random(43, &[2, 4, 3, 8]), random(44, &[2, 4, 5, 8]), random(45, &[2, 4, 5, 8]));
    for shape in
        [&[5][..], &[1, 5], &[3, 1], &[1, 1], &[4, 3, 5], &[4, 1, 5], &[2, 1, 3, 5], &[2, 4, 3, 5]]
    {
        let mask = random(46, shape);
        let full = mask.broadcast(IxDyn(&[2, 4, 3, 5])).expect("it broadcasts").to_owned();
        let attend = |mask| scaled_dot_product_attention(&q, &k, &v, None, Some(mask));
        let what = format!(
            "attention of q [2, 4, 3, 8] over 5 keys with a mask {shape:?}, compared with the same \
             mask written out as [2, 4, 3, 5]"
        );
        let found = assert_accepts(&what, || attend(&mask));
        assert_agrees(
            &what,
            &found,
            &attend(&full),
            1e-5,
            "a mask broadcasts to the scores [..., L, S], axes counted from the right",
        );
    }
}

/// A scale of 0 is one that is given: all scores are 0, so each key that is seen counts alike.
#[test]
fn task_2_attention_at_a_scale_of_zero() {
    let (q, k, v) = (random(10, &[2, 8]), random(11, &[4, 8]), random(12, &[4, 8]));
    let mask = tensor(&[2, 4], vec![0.0, 0.0, OFF, OFF, 0.0, 0.0, 0.0, 0.0]);
    let of = |seen: usize, column: usize| {
        (0..seen).map(|key| v[[key, column]]).sum::<f32>() / seen as f32
    };
    compare(
        "attention at a scale of 0, of two queries, the first of which sees keys 0 and 1",
        &scaled_dot_product_attention(&q, &k, &v, Some(0.0), Some(&mask)),
        &Tensor::from_shape_fn(vec![2, 8], |at| of([2, 4][at[0]], at[1])),
        1e-5,
    )
    .unwrap_or_else(|text| {
        panic!("{text}\n  Some(0.0) is a scale: the mean of the values that each query sees")
    });
}

#[test]
fn task_2_attention_averages_when_all_keys_are_equal() {
    let (q, k, v) = (random(15, &[2, 8]), random(13, &[1, 8]), random(14, &[5, 8]));
    let k = k.select(Axis(0), &[0; 5]);
    let mean = v.mean_axis(Axis(0)).expect("five rows");
    let expected = ndarray::stack(Axis(0), &[mean.view(), mean.view()]).expect("same shapes");
    // Two sums of five values up to 2.
    assert_close(
        "attention over five equal keys",
        &scaled_dot_product_attention(&q, &k, &v, None, None),
        &expected,
        2e-6,
    );
}

#[test]
fn task_2_attention_in_any_layout() {
    let (q, k, v) = (random(7, &[2, 3, 4]), random(8, &[2, 5, 4]), random(9, &[2, 5, 4]));
    resting_on(&[parts::SOFTMAX], || {
        let attend = scaled_dot_product_attention;
        assert_any_layout("attention with q", &q, 1e-5, |q| attend(q, &k, &v, None, None));
        assert_any_layout("attention with k", &k, 1e-5, |k| attend(&q, k, &v, None, None));
        assert_any_layout("attention with v", &v, 1e-5, |v| attend(&q, &k, v, None, None));
        let mask = random(46, &[2, 3, 5]);
        assert_any_layout("attention with a mask", &mask, 1e-5, |mask| {
            attend(&q, &k, &v, None, Some(mask))
        });
    });
}

/// Each query sees one key, another one each, so it returns that key's value without rounding.
#[test]
fn task_2_attention_whatever_the_size() {
    for (queries, keys) in [(1, 3), (1, 130), (70, 70), (70, 130), (3, 1)] {
        let (q, k) = (random(20, &[queries, 4]), random(21, &[keys, 4]));
        let v = random(22, &[keys, 4]);
        let seen: Vec<usize> = (0..queries).map(|i| keys - 1 - i * 37 % keys).collect();
        let mask = Tensor::from_shape_fn(vec![queries, keys], |at| {
            if at[1] == seen[at[0]] { 0.0 } else { OFF }
        });
        let found = scaled_dot_product_attention(&q, &k, &v, None, Some(&mask));
        let what = format!("attention of {queries} queries and {keys} keys, one visible to each");
        // Without diagnosis: here many mistakes return the wrong value.
        compare(&what, &found, &v.select(Axis(0), &seen), 0.0).unwrap_or_else(|text| {
            panic!("{text}\n  the mask counts for one query as for many, and for every key")
        });
    }
}

#[test]
fn task_2_attention_without_a_mask_sees_every_key() {
    let (q, v) = (random(23, &[4, 4]), random(24, &[4, 4]));
    let k = random(25, &[1, 4]).select(Axis(0), &[0; 4]);
    let mean = v.mean_axis(Axis(0)).expect("four rows").insert_axis(Axis(0));
    compare(
        "attention of four queries over four equal keys, without a mask",
        &scaled_dot_product_attention(&q, &k, &v, None, None),
        &mean.select(Axis(0), &[0; 4]),
        2e-6,
    )
    .unwrap_or_else(|text| {
        panic!("{text}\n  equal keys get equal weights, and no mask hides none")
    });
}

#[test]
fn task_2_attention_with_a_scale_of_one() {
    let (q, k, v) = (random(7, &[3, 4]), random(8, &[5, 4]), random(9, &[5, 4]));
    assert_agrees(
        "attention of q [3, 4] with the scale 1, compared with 2 · q at the default scale",
        &scaled_dot_product_attention(&q, &k, &v, Some(1.0), None),
        &scaled_dot_product_attention(&(&q * 2.0), &k, &v, None, None),
        1e-6,
        "the default scale is 1/√4 here, so both have the same scores",
    );
}

// Task 3: multi-head attention

fn multi_head(case: &Case) -> MultiHeadAttention {
    MultiHeadAttention {
        n_heads: case.count("n_heads"),
        q_proj: case.tensor("q_proj"),
        k_proj: case.tensor("k_proj"),
        v_proj: case.tensor("v_proj"),
        o_proj: case.tensor("o_proj"),
    }
}

#[track_caller]
fn check_multi_head(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_multi_head/{case}"));
    resting_on(&[parts::SOFTMAX, parts::ATTENTION, parts::HEADS], || {
        let found = multi_head(&case).forward(
            &case.tensor("query"),
            &case.tensor("key"),
            &case.tensor("value"),
            case.get("mask").as_ref(),
        );
        case.check("output", &found);
    });
}

#[test]
fn task_3_heads_are_split_whole() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_heads/split");
    case.check("output", &split_heads(&case.tensor("x"), case.count("n_heads")));
}

#[test]
fn task_3_heads_merge_side_by_side() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_heads/split");
    let what = "merge_heads of the right heads [2, 3, 4, 8], whatever your split_heads gives";
    assert_close(what, &merge_heads(&case.tensor("output")), &case.tensor("x"), 0.0);
}

#[test]
fn task_3_heads_in_any_layout() {
    assert_any_layout("split_heads", &random(21, &[2, 3, 8]), 0.0, |x| split_heads(x, 4));
    assert_any_layout("merge_heads", &random(22, &[2, 4, 3, 2]), 0.0, merge_heads);
}

#[test]
fn task_3_multi_head_attention_in_any_layout() {
    let layer = MultiHeadAttention {
        n_heads: 2,
        q_proj: random(31, &[8, 6]),
        k_proj: random(32, &[8, 6]),
        v_proj: random(33, &[8, 6]),
        o_proj: random(34, &[6, 8]),
    };
    let query = random(35, &[2, 3, 6]);
    let (key, value) = (random(36, &[2, 5, 6]), random(37, &[2, 5, 6]));
    resting_on(&[parts::SOFTMAX, parts::ATTENTION, parts::HEADS], || {
        assert_any_layout("multi-head attention with a query", &query, 1e-5, |query| {
            layer.forward(query, &key, &value, None)
        });
        assert_any_layout("multi-head attention with a key", &key, 1e-5, |key| {
            layer.forward(&query, key, &value, None)
        });
        assert_any_layout("multi-head attention with a value", &value, 1e-5, |value| {
            layer.forward(&query, &key, value, None)
        });
        assert_any_layout("multi-head attention with a mask", &random(38, &[3, 5]), 1e-5, |mask| {
            layer.forward(&query, &key, &value, Some(mask))
        });
    });
}

#[test]
fn task_3_multi_head_attention_across_two_sequences() {
    check_multi_head("cross");
}

#[test]
fn task_3_multi_head_attention_with_a_mask_per_head() {
    check_multi_head("mask");
}

#[test]
fn task_3_multi_head_self_attention_with_square_weights() {
    check_multi_head("self");
}

#[test]
fn task_3_multi_head_attention_of_a_batch_is_that_of_its_parts() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_multi_head/cross");
    let layer = multi_head(&case);
    let part = |name: &str, b: usize| case.tensor(name).select(Axis(0), &[b]);
    let parts: Vec<_> = (0..2)
        .map(|b| layer.forward(&part("query", b), &part("key", b), &part("value", b), None))
        .collect();
    let parts =
        ndarray::concatenate(Axis(0), &[parts[0].view(), parts[1].view()]).expect("same shapes");
    let what = "task_3_multi_head/cross, each sequence of the batch computed alone";
    assert_close(what, &parts, &case.tensor("output"), case.tolerance("output"));
}

#[test]
fn task_3_multi_head_attention_does_not_depend_on_the_order_of_keys() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_multi_head/cross");
    let order = [3, 1, 4, 0, 2];
    let (key, value) =
        (case.tensor("key").select(Axis(1), &order), case.tensor("value").select(Axis(1), &order));
    let found = multi_head(&case).forward(&case.tensor("query"), &key, &value, None);
    let what = "task_3_multi_head/cross, with keys and values both in the order 3, 1, 4, 0, 2";
    assert_close(what, &found, &case.tensor("output"), case.tolerance("output"));
}

#[test]
fn task_3_multi_head_attention_with_a_mask_of_any_shape_that_broadcasts() {
    let layer = MultiHeadAttention {
        n_heads: 4,
        q_proj: random(31, &[8, 6]),
        k_proj: random(32, &[8, 6]),
        v_proj: random(33, &[8, 6]),
        o_proj: random(34, &[6, 8]),
    };
    let query = random(35, &[2, 3, 6]);
    let (key, value) = (random(36, &[2, 5, 6]), random(37, &[2, 5, 6]));
    for shape in [&[4, 3, 5][..], &[4, 1, 5], &[1, 3, 5], &[3, 5], &[1, 5], &[5], &[2, 1, 3, 5]] {
        let mask = random(38, shape);
        let full = mask.broadcast(IxDyn(&[2, 4, 3, 5])).expect("it broadcasts").to_owned();
        let what = format!(
            "multi-head attention of four heads with a mask {shape:?}, compared with the same mask \
             written out as [B, H, L, S] = [2, 4, 3, 5]"
        );
        let property = "axes are counted from the right: the last are L and S, before them H, then \
                        B, and one that is missing or 1 stands for all";
        resting_on(&[parts::SOFTMAX, parts::ATTENTION, parts::HEADS], || {
            let attend = |mask| layer.forward(&query, &key, &value, Some(mask));
            let found = assert_accepts(&what, || attend(&mask));
            assert_agrees(&what, &found, &attend(&full), 1e-5, property);
        });
    }
}

/// Weights that change nothing, so that each head returns its part of the one value that is seen.
#[test]
fn task_3_multi_head_attention_whatever_the_size() {
    for (batch, length, n_heads) in [(1, 1, 1), (1, 1, 4), (1, 3, 1), (2, 1, 2), (1, 3, 2)] {
        let keys = length + 2;
        let layer = MultiHeadAttention {
            n_heads,
            q_proj: Tensor::from_shape_fn(vec![4, 4], |at| f32::from(at[0] == at[1])),
            k_proj: Tensor::from_shape_fn(vec![4, 4], |at| f32::from(at[0] == at[1])),
            v_proj: Tensor::from_shape_fn(vec![4, 4], |at| f32::from(at[0] == at[1])),
            o_proj: Tensor::from_shape_fn(vec![4, 4], |at| f32::from(at[0] == at[1])),
        };
        let query = random(26, &[batch, length, 4]);
        let (key, value) = (random(27, &[batch, keys, 4]), random(28, &[batch, keys, 4]));
        let mask = Tensor::from_shape_fn(vec![length, keys], |at| {
            if at[1] == keys - 1 - at[0] { 0.0 } else { OFF }
        });
        let seen: Vec<usize> = (0..length).map(|i| keys - 1 - i).collect();
        resting_on(&[parts::SOFTMAX, parts::ATTENTION, parts::HEADS], || {
            compare(
                &format!(
                    "multi-head attention, n_heads {n_heads}, of query [{batch}, {length}, 4] and \
                     {keys} keys, one visible to each query"
                ),
                &layer.forward(&query, &key, &value, Some(&mask)),
                &value.select(Axis(1), &seen),
                0.0,
            )
            .unwrap_or_else(|text| {
                panic!("{text}\n  the mask counts for one head, query or sequence as for many")
            });
        });
    }
}

#[test]
fn task_3_multi_head_attention_with_query_as_key_and_another_value() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_multi_head/self");
    let layer = multi_head(&case);
    let query = case.tensor("query");
    let attend = |value: &Tensor| layer.forward(&query, &query, value, None);
    assert_agrees(
        "attention whose key is the query and whose value is −2 · query, compared with −2 · that of the query",
        &attend(&(&query * -2.0)),
        &(attend(&query) * -2.0),
        0.0,
        "weights come of query and key alone, and the result is a sum of values",
    );
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day1.rs"]
mod fresh;

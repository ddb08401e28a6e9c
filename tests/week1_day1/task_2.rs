//! Week 1, day 1, task 2: scaled dot-product attention.

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::attention::scaled_dot_product_attention;
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    check::{
        assert_accepts, assert_agrees, assert_any_layout, assert_close, assert_close_because,
        resting_on,
    },
    fixtures::random,
};

use super::{OFF, fixtures, parts};

#[track_caller]
fn check_attention(case: &str) {
    let case = fixtures().case(&format!("task_2_attention/{case}"));
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

/// Computes attention with a mask that shows every query at least one key. Many mistakes give only
/// NaN, so a result with NaN or infinity fails here, without a comparison.
#[track_caller]
fn masked_attention(q: &Tensor, k: &Tensor, v: &Tensor, mask: &Tensor) -> Tensor {
    let found = scaled_dot_product_attention(q, k, v, None, Some(mask));
    let wrong = found.iter().filter(|x| !x.is_finite()).count();
    let n = found.len();
    assert!(
        wrong == 0,
        "{wrong} of {n} outputs are NaN or infinite, although every query sees a key: −inf in the \
         mask must give a weight of 0"
    );
    found
}

#[test]
fn task_2_attention_with_default_scale() {
    check_attention("plain");
}

#[test]
fn task_2_attention_of_2d_inputs() {
    check_attention("two_axes");
}

#[test]
fn task_2_attention_of_4d_inputs_with_explicit_scale() {
    check_attention("scale_given");
}

#[test]
fn task_2_attention_mask_of_minus_infinity_hides_keys() {
    check_attention("mask_removes");
}

#[test]
fn task_2_attention_mask_is_added_after_scaling() {
    check_attention("mask_biases");
}

#[test]
fn task_2_attention_of_fully_masked_query_is_zero() {
    check_attention("masked_row");
}

#[test]
fn task_2_attention_with_large_scores_does_not_overflow() {
    check_attention("large_scores");
}

#[test]
fn task_2_attention_ignores_masked_keys_and_values() {
    let (q, k, v) = (random(7, &[2, 3, 8]), random(8, &[2, 5, 8]), random(9, &[2, 5, 8]));
    let mut mask = Tensor::zeros(IxDyn(&[3, 5]));
    mask.index_axis_mut(Axis(1), 2).fill(f32::NEG_INFINITY);
    let before = masked_attention(&q, &k, &v, &mask);

    let (mut other_k, mut other_v) = (k.clone(), v.clone());
    other_k.index_axis_mut(Axis(1), 2).mapv_inplace(|x| 7.0 - 3.0 * x);
    other_v.index_axis_mut(Axis(1), 2).mapv_inplace(|x| 1000.0 - 3.0 * x);
    let after = masked_attention(&q, &other_k, &other_v, &mask);
    let what = "attention after a change of key 2 and value 2, which are masked for every query, \
                compared with before";
    assert_agrees(
        what,
        &after,
        &before,
        0.0,
        "a key with −inf in the mask must have no effect, whatever the key and its value are",
    );
}

#[test]
fn task_2_attention_with_one_visible_key_returns_its_value() {
    let (q, k, v) = (random(10, &[4, 8]), random(11, &[4, 8]), random(12, &[4, 8]));
    let mut mask = Tensor::from_elem(IxDyn(&[4, 4]), f32::NEG_INFINITY);
    for i in 0..4 {
        mask[[i, 3 - i]] = 0.0;
    }
    let mut reversed = v.clone();
    reversed.invert_axis(Axis(0));
    // One weight is 1 and all others are 0, so nothing is rounded.
    assert_close(
        "attention of 4 queries, where query i sees only key 3 − i",
        &masked_attention(&q, &k, &v, &mask),
        &reversed,
        0.0,
    );
}

/// Even if there is only one key, the mask hides it from a query.
#[test]
fn task_2_attention_over_single_key_masked_for_one_query() {
    let (q, k, v) = (random(10, &[3, 8]), random(11, &[1, 8]), random(12, &[1, 8]));
    let mask = tensor(&[3, 1], vec![0.0, OFF, 0.0]);
    let expected = Tensor::from_shape_fn(vec![3, 8], |at| [1.0, 0.0, 1.0][at[0]] * v[[0, at[1]]]);
    assert_close_because(
        "attention of three queries over one key, which the second query does not see",
        &scaled_dot_product_attention(&q, &k, &v, None, Some(&mask)),
        &expected,
        0.0,
        "a query that sees the key returns its value; a query that doesn't returns zeros",
    );
}

/// The mask broadcasts: its axes are counted from the right, and an axis that is missing or has
/// length 1 is repeated.
#[test]
fn task_2_attention_mask_broadcasts_to_scores() {
    let (q, k, v) =
        (random(43, &[2, 4, 3, 8]), random(44, &[2, 4, 5, 8]), random(45, &[2, 4, 5, 8]));
    for shape in
        [&[5][..], &[1, 5], &[3, 1], &[1, 1], &[4, 3, 5], &[4, 1, 5], &[2, 1, 3, 5], &[2, 4, 3, 5]]
    {
        let mask = random(46, shape);
        let full = mask
            .broadcast(IxDyn(&[2, 4, 3, 5]))
            .expect("the mask must broadcast to these axes")
            .to_owned();
        let attend = |mask| scaled_dot_product_attention(&q, &k, &v, None, Some(mask));
        let what = format!(
            "attention of q [2, 4, 3, 8] over 5 keys with a mask {shape:?}, compared with the mask \
             expanded to [2, 4, 3, 5]"
        );
        let found = assert_accepts(&what, || attend(&mask));
        assert_agrees(
            &what,
            &found,
            &attend(&full),
            1e-5,
            "a mask broadcasts to the scores [..., L, S], with axes counted from the right",
        );
    }
}

/// With a scale of 0 all scores are 0, so all visible keys have equal weights.
#[test]
fn task_2_attention_with_zero_scale_averages_visible_values() {
    let (q, k, v) = (random(10, &[2, 8]), random(11, &[4, 8]), random(12, &[4, 8]));
    let mask = tensor(&[2, 4], vec![0.0, 0.0, OFF, OFF, 0.0, 0.0, 0.0, 0.0]);
    let of = |seen: usize, column: usize| {
        (0..seen).map(|key| v[[key, column]]).sum::<f32>() / seen as f32
    };
    assert_close_because(
        "attention with scale 0 of two queries, where the first sees only keys 0 and 1",
        &scaled_dot_product_attention(&q, &k, &v, Some(0.0), Some(&mask)),
        &Tensor::from_shape_fn(vec![2, 8], |at| of([2, 4][at[0]], at[1])),
        1e-5,
        "Some(0.0) is a scale, not a missing one: each query returns the mean of the values that \
         it sees",
    );
}

#[test]
fn task_2_attention_averages_values_of_equal_keys() {
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

/// Each query sees a different single key, so it returns that key's value without rounding.
#[test]
fn task_2_attention_applies_mask_at_various_sizes() {
    for (queries, keys) in [(1, 3), (1, 130), (70, 70), (70, 130), (3, 1)] {
        let (q, k) = (random(20, &[queries, 4]), random(21, &[keys, 4]));
        let v = random(22, &[keys, 4]);
        let seen: Vec<usize> = (0..queries).map(|i| keys - 1 - i * 37 % keys).collect();
        let mask = Tensor::from_shape_fn(vec![queries, keys], |at| {
            if at[1] == seen[at[0]] { 0.0 } else { OFF }
        });
        let found = scaled_dot_product_attention(&q, &k, &v, None, Some(&mask));
        let what = format!(
            "attention of {queries} queries over {keys} keys, where each query sees one key"
        );
        // Without diagnosis: many mistakes return the wrong value here.
        let why = "apply the mask for any number of queries, and to every key";
        assert_close_because(&what, &found, &v.select(Axis(0), &seen), 0.0, why);
    }
}

#[test]
fn task_2_attention_without_a_mask_sees_every_key() {
    let (q, v) = (random(23, &[4, 4]), random(24, &[4, 4]));
    let k = random(25, &[1, 4]).select(Axis(0), &[0; 4]);
    let mean = v.mean_axis(Axis(0)).expect("four rows").insert_axis(Axis(0));
    assert_close_because(
        "attention of four queries over four equal keys, without a mask",
        &scaled_dot_product_attention(&q, &k, &v, None, None),
        &mean.select(Axis(0), &[0; 4]),
        2e-6,
        "equal keys get equal weights, and without a mask no key is hidden",
    );
}

#[test]
fn task_2_attention_with_scale_one() {
    let (q, k, v) = (random(7, &[3, 4]), random(8, &[5, 4]), random(9, &[5, 4]));
    assert_agrees(
        "attention of q [3, 4] with the scale 1, compared with 2 · q at the default scale",
        &scaled_dot_product_attention(&q, &k, &v, Some(1.0), None),
        &scaled_dot_product_attention(&(&q * 2.0), &k, &v, None, None),
        1e-6,
        "the default scale is 1/√4 here, so both have the same scores",
    );
}

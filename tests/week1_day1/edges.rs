//! Week 1, day 1: numbers near the limits of f32, different arguments of the same shape, and rows
//! that must not affect other rows. The checks name no likely mistake: near the limits, many give
//! the same result.

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::attention::{
    MultiHeadAttention, linear, scaled_dot_product_attention, softmax,
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_agrees, assert_close_because as check, resting_on},
    fixtures::random,
};

use super::{OFF, parts};

/// Checks that row `row` of the result contains a NaN, and that all other rows are unchanged.
#[track_caller]
fn check_one_row_is_lost(what: &str, row: usize, found: &Tensor, before: &Tensor) {
    for (i, (found, before)) in found.rows().into_iter().zip(before.rows()).enumerate() {
        if i == row {
            assert!(
                found.iter().any(|x| x.is_nan()),
                "{what}: row {i} is {found}, expected a NaN in it: a NaN in the input must not \
                 disappear"
            );
        } else {
            let (found, before) = (found.to_owned().into_dyn(), before.to_owned().into_dyn());
            let why = "a NaN in one row must not change the other rows";
            check(&format!("{what}: row {i}"), &found, &before, 1e-6, why);
        }
    }
}

#[test]
fn task_1_softmax_of_extreme_finite_values() {
    const LEAST: f32 = f32::MIN;
    const MOST: f32 = f32::MAX;
    let e = 1f32.exp();
    let rows: [([f32; 3], [f32; 3]); 8] = [
        ([LEAST, OFF, OFF], [1.0, 0.0, 0.0]),
        ([OFF, OFF, MOST], [0.0, 0.0, 1.0]),
        ([LEAST, 0.0, OFF], [0.0, 1.0, 0.0]),
        ([MOST, LEAST, OFF], [1.0, 0.0, 0.0]),
        ([-1e30, OFF, OFF], [1.0, 0.0, 0.0]),
        ([-20_001.0, -20_000.0, OFF], [1.0 / (1.0 + e), e / (1.0 + e), 0.0]),
        ([20_000.0, 20_001.0, LEAST], [1.0 / (1.0 + e), e / (1.0 + e), 0.0]),
        ([-0.0, 0.0, -0.0], [1.0 / 3.0; 3]),
    ];
    for (x, expected) in rows {
        let found =
            assert_accepts(&format!("softmax of {x:?}"), || softmax(&tensor(&[1, 3], x.to_vec())));
        check(
            &format!("softmax of {x:?}"),
            &found,
            &tensor(&[1, 3], expected.to_vec()),
            // Numbers of this size are 2⁻⁹ apart.
            3e-3,
            "only −inf is masked: every finite number takes part, however small or large",
        );
    }
}

#[test]
fn task_1_softmax_propagates_nan_only_within_its_row() {
    let nan = f32::NAN;
    let others = random(61, &[3, 3]);
    for row in [[nan, 1.0, 2.0], [1.0, 2.0, nan], [nan, OFF, OFF], [OFF, OFF, nan], [nan; 3]] {
        let mut x = others.clone();
        x.index_axis_mut(Axis(0), 1).assign(&tensor(&[3], row.to_vec()));
        let what = format!("softmax of three rows, where row 1 is {row:?}");
        check_one_row_is_lost(&what, 1, &softmax(&x), &softmax(&others));
    }
}

#[test]
fn task_1_linear_with_empty_x_or_weight() {
    for (x, weight, shape) in [
        (&[0, 4][..], &[3, 4], &[0, 3][..]),
        (&[2, 0, 4], &[3, 4], &[2, 0, 3]),
        (&[2, 4], &[0, 4], &[2, 0]),
    ] {
        let what = format!("linear of x {x:?} and a weight {weight:?}");
        let found =
            assert_accepts(&what, || linear(&Tensor::ones(x), &Tensor::ones(&weight[..]), None));
        assert_eq!(found.shape(), shape, "{what}: the result has the wrong shape");
    }
}

/// Products and sums scale with their inputs at any size. Powers of two keep everything exact.
#[test]
fn task_1_linear_scales_with_x_and_weight() {
    let (x, weight) = (random(62, &[4, 5]), random(63, &[3, 5]));
    let plain = linear(&x, &weight, None);
    for factor in [2f32.powi(60), 2f32.powi(-60), -1.0, -2f32.powi(20), 0.0] {
        let why = "linear must not treat elements differently by size or sign";
        let what = format!("linear of {factor:e} · x, compared with {factor:e} · (linear of x)");
        assert_agrees(&what, &linear(&(&x * factor), &weight, None), &(&plain * factor), 0.0, why);
        let what = format!(
            "linear with {factor:e} · weight, compared with {factor:e} · (linear with weight)"
        );
        assert_agrees(&what, &linear(&x, &(&weight * factor), None), &(&plain * factor), 0.0, why);
        let bias = random(64, &[3]) * factor;
        let what = format!("linear of zeros, with the bias {factor:e} · b");
        let zeros = Tensor::zeros(vec![4, 5]);
        let expected = bias.broadcast(IxDyn(&[4, 3])).expect("four rows").to_owned();
        check(
            &what,
            &linear(&zeros, &weight, Some(&bias)),
            &expected,
            0.0,
            "each row of the result must equal the bias",
        );
    }
    let mut lost = x.clone();
    lost[[2, 1]] = f32::NAN;
    check_one_row_is_lost(
        "linear of x with a NaN in row 2",
        2,
        &linear(&lost, &weight, None),
        &plain,
    );
}

/// Zero queries have a score of 0 with every key, so the weights are the softmax of the mask.
#[test]
fn task_2_attention_adds_finite_mask_to_scores() {
    let (q, k) = (Tensor::zeros(vec![2, 4]), random(65, &[3, 4]));
    let v = Tensor::from_shape_fn(vec![3, 4], |at| f32::from(at[0] == at[1]));
    let differences = [[0.0, -1.0, -0.5], [-2.0, 0.25, 0.0]];
    let weights = |row: [f64; 3]| {
        let sum: f64 = row.iter().map(|x| x.exp()).sum();
        row.map(|x| (x.exp() / sum) as f32)
    };
    let expected = Tensor::from_shape_fn(vec![2, 4], |at| {
        weights(differences[at[0]].map(f64::from)).get(at[1]).copied().unwrap_or(0.0)
    });
    for base in [0.0, -100.0, -9999.0, -10_000.0, -20_000.0, -1e5, 100.0, 30_000.0] {
        let mask = Tensor::from_shape_fn(vec![2, 3], |at| base + differences[at[0]][at[1]]);
        resting_on(&[parts::SOFTMAX], || {
            check(
                &format!("attention of zero queries with the mask {mask}"),
                &scaled_dot_product_attention(&q, &k, &v, None, Some(&mask)),
                &expected,
                // Quarters are exact up to this size, and scores are 2⁻⁷ apart.
                1e-2,
                "a mask is added to the scores: only −inf hides a key; any other number raises or \
                 lowers the weight of its key",
            );
        });
    }
    // Other programs use f32::MIN for −inf. In a row with a 0 it hides the key.
    let least = f32::MIN;
    let mask = tensor(&[2, 3], vec![least, 0.0, least, 0.0, least, OFF]);
    let expected = Tensor::from_shape_fn(vec![2, 4], |at| f32::from(at[1] == 1 - at[0]));
    resting_on(&[parts::SOFTMAX], || {
        check(
            "attention of zero queries with a mask that has one 0 in each row, and f32::MIN or \
             −inf elsewhere",
            &scaled_dot_product_attention(&q, &k, &v, None, Some(&mask)),
            &expected,
            0.0,
            "e^f32::MIN rounds to 0, so only the key with mask 0 has weight",
        );
    });
}

/// All scores are multiplied by the scale.
#[test]
fn task_2_attention_with_positive_and_negative_scales() {
    let (q, k, v) = (random(66, &[2, 3, 4]), random(67, &[2, 5, 4]), random(68, &[2, 5, 4]));
    let attend = |q: &Tensor, scale| scaled_dot_product_attention(q, &k, &v, Some(scale), None);
    for scale in [0.5, 2.0, 0.125, 1.5, 2f32.powi(-40)] {
        resting_on(&[parts::SOFTMAX], || {
            assert_agrees(
                &format!(
                    "attention of q with scale −{scale}, compared with attention of −q with scale \
                     {scale}"
                ),
                &attend(&q, -scale),
                &attend(&-&q, scale),
                1e-6,
                "the scores are the same, including their signs",
            );
            assert_agrees(
                &format!(
                    "attention of q with scale {scale}, compared with attention of {scale} · q \
                     with scale 1"
                ),
                &attend(&q, scale),
                &attend(&(&q * scale), 1.0),
                1e-5,
                "both have the same scores",
            );
        });
    }
    let turned = attend(&q, -1.0);
    assert!(
        turned != attend(&q, 1.0),
        "attention with scale −1 gives the same result as with scale 1, but a negative scale \
         changes the sign of every score"
    );
}

/// There are as many keys as queries, but they are different tensors.
#[test]
fn task_2_attention_with_distinct_q_k_v_of_equal_shape() {
    let place = [2, 0, 3, 1];
    let q = Tensor::from_shape_fn(vec![4, 4], |at| if at[0] == at[1] { 400.0 } else { 0.0 });
    let k = Tensor::from_shape_fn(vec![4, 4], |at| f32::from(place[at[1]] == at[0]));
    let v = random(69, &[4, 4]);
    resting_on(&[parts::SOFTMAX], || {
        check(
            "attention of q, k and v [4, 4], where query i matches only key [2, 0, 3, 1][i]",
            &scaled_dot_product_attention(&q, &k, &v, None, None),
            &v.select(Axis(0), &place),
            0.0,
            "each query must return the value of its matching key",
        );
    });
    for scale in [2f32.powi(70), -2f32.powi(30), 2f32.powi(-70)] {
        assert_agrees(
            &format!("attention over {scale:e} · v, compared with {scale:e} · (attention over v)"),
            &scaled_dot_product_attention(&q, &k, &(&v * scale), Some(0.01), None),
            &(scaled_dot_product_attention(&q, &k, &v, Some(0.01), None) * scale),
            0.0,
            "the result is a weighted sum of values, so a factor of v is a factor of the result",
        );
    }
}

#[test]
fn task_2_attention_propagates_nan_only_within_its_query() {
    let (q, k, v) = (random(66, &[3, 4]), random(67, &[5, 4]), random(68, &[5, 4]));
    let mut lost = q.clone();
    lost[[1, 2]] = f32::NAN;
    let attend =
        |q: &Tensor, mask: Option<&Tensor>| scaled_dot_product_attention(q, &k, &v, None, mask);
    resting_on(&[parts::SOFTMAX], || {
        let what = "attention of three queries, with a NaN in query 1";
        check_one_row_is_lost(what, 1, &attend(&lost, None), &attend(&q, None));
        let mask = Tensor::zeros(vec![3, 5]);
        let what = "masked attention of three queries, with a NaN in query 1";
        check_one_row_is_lost(what, 1, &attend(&lost, Some(&mask)), &attend(&q, Some(&mask)));
    });
}

/// Identity projections, with heads of size 4.
fn plain(n_heads: usize) -> MultiHeadAttention {
    let size = 4 * n_heads;
    let same = || Tensor::from_shape_fn(vec![size, size], |at| f32::from(at[0] == at[1]));
    MultiHeadAttention { n_heads, q_proj: same(), k_proj: same(), v_proj: same(), o_proj: same() }
}

#[test]
fn task_3_multi_head_attention_with_distinct_query_key_value() {
    for (batch, n_heads) in [(1, 1), (2, 1), (1, 3), (2, 2)] {
        let width = 4 * n_heads;
        // In each head, queries match keys in a different order.
        let place = |b: usize, h: usize, i: usize| (3 * i + b + h + 1) % 4;
        let query = Tensor::from_shape_fn(vec![batch, 4, width], |at| {
            if at[1] == at[2] % 4 { 400.0 } else { 0.0 }
        });
        let key = Tensor::from_shape_fn(vec![batch, 4, width], |at| {
            f32::from(place(at[0], at[2] / 4, at[2] % 4) == at[1])
        });
        let value = random(70, &[batch, 4, width]);
        let expected = Tensor::from_shape_fn(vec![batch, 4, width], |at| {
            value[[at[0], place(at[0], at[2] / 4, at[1]), at[2]]]
        });
        resting_on(&[parts::SOFTMAX, parts::ATTENTION, parts::HEADS], || {
            check(
                &format!(
                    "multi-head attention of three different tensors query, key and value \
                     [{batch}, 4, {width}], n_heads {n_heads}, each query matching one key"
                ),
                &plain(n_heads).forward(&query, &key, &value, None),
                &expected,
                0.0,
                "query, key and value have the same shape, but different contents: scores come \
                 from queries and keys, the result from values",
            );
        });
    }
}

#[test]
fn task_3_multi_head_attention_adds_finite_mask_to_scores() {
    let layer = plain(2);
    let (query, key) = (random(71, &[2, 3, 8]), random(72, &[2, 5, 8]));
    let value = random(73, &[2, 5, 8]);
    // Eighths are exact up to this size.
    let mask = random(74, &[3, 5]).mapv(|x| (x * 8.0).round() / 8.0);
    let attend = |mask: &Tensor| layer.forward(&query, &key, &value, Some(mask));
    resting_on(&[parts::SOFTMAX, parts::ATTENTION, parts::HEADS], || {
        for base in [-20_000.0, -1000.0, 1000.0] {
            assert_agrees(
                &format!(
                    "multi-head attention with a finite mask + {base}, compared with the finite \
                     mask alone"
                ),
                &attend(&(&mask + base)),
                &attend(&mask),
                // Scores up to 8 are rounded to multiples of 2⁻⁹ at this size.
                2e-2,
                "a constant added to a whole row of scores cancels out: only −inf hides a key",
            );
        }
    });
}

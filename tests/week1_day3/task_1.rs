//! Week 1, day 3, task 1: grouped attention.

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::gqa::grouped_query_attention;
use tiny_llm_formats::{
    Tensor,
    tensor::{reshape, tensor},
};
use tiny_llm_harness::{
    check::{
        assert_accepts, assert_agrees, assert_any_layout, assert_close, assert_close_because,
        resting_on,
    },
    fixtures::random,
};

use super::{OFF, fixtures, parts};

/// Computes grouped attention of arguments that the function must accept.
fn grouped(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    scale: Option<f32>,
    mask: Option<&Tensor>,
) -> Tensor {
    let scores = [q.len_of(Axis(0)), q.len_of(Axis(1)), q.len_of(Axis(2)), k.len_of(Axis(2))];
    let mut arguments =
        format!("grouped_query_attention of q {:?}, k and v {:?}", q.shape(), k.shape());
    if let Some(mask) = mask {
        arguments += &format!(", with a mask {:?}, which broadcasts to {scores:?}", mask.shape());
    }
    assert_accepts(&arguments, || grouped_query_attention(q, k, v, scale, mask))
}

#[test]
fn task_1_grouped_attention_head_h_uses_kv_head_h_div_g() {
    // The scores are ±200, so the sign of a query selects one of two values. The other has a weight
    // of e^−400 = 0.
    let q = tensor(&[1, 6, 1, 1], vec![200.0, -200.0, -200.0, 200.0, 200.0, -200.0]);
    let k = tensor(&[1, 3, 2, 1], vec![1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
    let v = tensor(&[1, 3, 2, 1], vec![11.0, 12.0, 21.0, 22.0, 31.0, 32.0]);
    let found = grouped(&q, &k, &v, None, None);
    assert_eq!(found.shape(), q.shape(), "the output must have the shape of q");
    let expected = tensor(&[6], vec![11.0, 12.0, 22.0, 21.0, 31.0, 32.0]);
    let what = "grouped attention of 6 query heads with signs + − − + + − over key/value heads \
                with values 11 | 12, 21 | 22 and 31 | 32 (+ reads the left value, − the right)";
    assert_close(what, &reshape(&found, &[6]), &expected, 0.0);
}

#[track_caller]
fn check_grouped(case: &str) {
    let case = fixtures().case(&format!("task_1_grouped/{case}"));
    let scale = case.value("scale").as_f64().map(|scale| scale as f32);
    resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
        let found = grouped(
            &case.tensor("q"),
            &case.tensor("k"),
            &case.tensor("v"),
            scale,
            case.get("mask").as_ref(),
        );
        case.check("output", &found);
    });
}

#[test]
fn task_1_grouped_attention_shares_kv_among_adjacent_heads() {
    check_grouped("plain");
}

#[test]
fn task_1_grouped_attention_with_explicit_scale() {
    check_grouped("scale_given");
}

#[test]
fn task_1_grouped_attention_with_groups_of_one() {
    let case = fixtures().case("task_1_grouped/none_share");
    let found = grouped(&case.tensor("q"), &case.tensor("k"), &case.tensor("v"), None, None);
    // Without diagnosis: h / H is 0 for every h here, which looks like always using the first
    // key/value head.
    assert_close_because(
        "grouped attention with H_q = H = 3",
        &found,
        &case.tensor("output"),
        case.tolerance("output"),
        "each group has one query head here, so query head h must read key/value head h",
    );
}

#[test]
fn task_1_grouped_attention_with_one_key_value_head() {
    check_grouped("all_share_one");
}

#[test]
fn task_1_grouped_attention_mask_shared_by_all_heads() {
    check_grouped("mask_shared");
}

#[test]
fn task_1_grouped_attention_finite_mask_shared_by_all_heads() {
    let case = fixtures().case("task_1_grouped/mask_finite");
    let found = grouped(
        &case.tensor("q"),
        &case.tensor("k"),
        &case.tensor("v"),
        None,
        case.get("mask").as_ref(),
    );
    // Without diagnosis: ignoring the mask and applying only its −inf give the same result here.
    assert_close_because(
        "grouped attention with a mask without −inf",
        &found,
        &case.tensor("output"),
        case.tolerance("output"),
        "this mask contains no −inf, but it must still be added to the scores",
    );
}

#[test]
fn task_1_grouped_attention_mask_per_sequence() {
    check_grouped("mask_per_batch");
}

#[test]
fn task_1_grouped_attention_mask_per_query_head() {
    check_grouped("mask_per_head");
}

#[test]
fn task_1_grouped_attention_mask_with_fully_masked_rows() {
    check_grouped("mask_full");
}

#[test]
fn task_1_grouped_attention_mask_broadcasts_to_scores() {
    let (q, k, v) =
        (random(43, &[2, 6, 3, 4]), random(44, &[2, 2, 5, 4]), random(45, &[2, 2, 5, 4]));
    for shape in [
        &[6, 3, 5][..],
        &[1, 3, 5],
        &[6, 1, 5],
        &[1, 6, 3, 5],
        &[2, 1, 3, 5],
        &[5],
        &[1, 5],
        &[3, 1],
        &[3, 5],
        &[2, 1, 1, 5],
        &[2, 6, 1, 5],
    ] {
        let mask = random(46, shape);
        let full = mask
            .broadcast(IxDyn(&[2, 6, 3, 5]))
            .expect("the mask must broadcast to these axes")
            .to_owned();
        resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
            let what = format!(
                "grouped attention with a mask {shape:?}, compared with the mask expanded to [B, \
                 H_q, L, S] = [2, 6, 3, 5]"
            );
            let property = "count axes from the right: S, L, H_q, B; an axis that is missing or \
                            has length 1 is broadcast";
            let found = grouped(&q, &k, &v, None, Some(&mask));
            let written_out = grouped(&q, &k, &v, None, Some(&full));
            assert_agrees(&what, &found, &written_out, 1e-5, property);
        });
    }
}

#[test]
fn task_1_grouped_attention_with_zero_scale_averages_values() {
    let (q, k) = (random(43, &[1, 4, 2, 4]), random(44, &[1, 2, 4, 4]));
    let v = random(45, &[1, 2, 4, 4]);
    let mean = v.mean_axis(Axis(2)).expect("four keys").index_axis_move(Axis(0), 0);
    let expected = Tensor::from_shape_fn(vec![1, 4, 2, 4], |at| mean[[at[1] / 2, at[3]]]);
    resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
        assert_agrees(
            "grouped attention with scale 0, compared with the mean of each head's values",
            &grouped(&q, &k, &v, Some(0.0), None),
            &expected,
            1e-5,
            "Some(0.0) is a scale, not a missing one: all keys get equal weights",
        );
    });
}

#[test]
fn task_1_grouped_attention_in_any_layout() {
    let (q, k, v) =
        (random(43, &[2, 6, 3, 4]), random(44, &[2, 2, 5, 4]), random(45, &[2, 2, 5, 4]));
    let attend = grouped_query_attention;
    resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
        assert_any_layout("grouped attention with q", &q, 1e-5, |q| attend(q, &k, &v, None, None));
        assert_any_layout("grouped attention with k", &k, 1e-5, |k| attend(&q, k, &v, None, None));
        assert_any_layout("grouped attention with v", &v, 1e-5, |v| attend(&q, &k, v, None, None));
        let mask = random(46, &[2, 6, 3, 5]);
        assert_any_layout("grouped attention with a mask", &mask, 1e-5, |mask| {
            attend(&q, &k, &v, None, Some(mask))
        });
    });
}

/// Each query sees a different single key, so it returns that key's value without rounding.
#[test]
fn task_1_grouped_attention_at_various_sizes() {
    for (heads, kv_heads, queries, keys) in
        [(1, 1, 1, 3), (3, 3, 1, 5), (3, 3, 4, 4), (4, 1, 2, 4), (4, 2, 1, 4), (2, 2, 70, 130)]
    {
        let (q, k) = (random(46, &[1, heads, queries, 4]), random(47, &[1, kv_heads, keys, 4]));
        let v = random(48, &[1, kv_heads, keys, 4]);
        let seen = |query: usize| keys - 1 - query * 37 % keys;
        let mask = Tensor::from_shape_fn(vec![queries, keys], |at| {
            if at[1] == seen(at[0]) { 0.0 } else { OFF }
        });
        let expected = Tensor::from_shape_fn(vec![1, heads, queries, 4], |at| {
            v[[0, at[1] * kv_heads / heads, seen(at[2]), at[3]]]
        });
        let what = format!(
            "grouped attention with H_q = {heads}, H = {kv_heads}, {queries} queries and {keys} \
             keys, where each query sees one key"
        );
        resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
            // Without diagnosis: many mistakes return the wrong value here.
            assert_close_because(
                &what,
                &grouped(&q, &k, &v, None, Some(&mask)),
                &expected,
                0.0,
                "apply the mask for any number of queries, heads and sequences",
            );
            assert_agrees(
                &format!(
                    "grouped attention with H_q = {heads}, H = {kv_heads}, D = 4 and scale 1, \
                     compared with 2 · q with the default scale"
                ),
                &grouped(&q, &k, &v, Some(1.0), None),
                &grouped(&(&q * 2.0), &k, &v, None, None),
                1e-5,
                "the default scale is 1/√4, so both have the same scores",
            );
        });
    }
}

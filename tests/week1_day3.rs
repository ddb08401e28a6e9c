//! Week 1, day 3: grouped-query attention, the causal mask, the attention layer.

use std::sync::Arc;

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::{
    gqa::{GroupedQueryAttention, HeadNorm, Linear, causal_mask, grouped_query_attention},
    rope::RopeTables,
};
use tiny_llm_kit::{
    Tensor,
    check::{assert_close, assert_panics},
    fixtures::{Case, Fixtures, random},
    tensor::tensor,
};

const OFF: f32 = f32::NEG_INFINITY;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day3")
}

// Task 1: grouped attention

#[track_caller]
fn check_grouped(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_grouped/{case}"));
    let scale = case.value("scale").as_f64().map(|scale| scale as f32);
    let found = grouped_query_attention(&case.tensor("q"), &case.tensor("k"), &case.tensor("v"), scale, case.get("mask").as_ref());
    case.check("output", &found);
}

#[test]
fn task_1_grouped_neighbouring_query_heads_share() {
    check_grouped("plain");
}

#[test]
fn task_1_grouped_with_a_given_scale() {
    check_grouped("scale_given");
}

#[test]
fn task_1_grouped_with_one_key_value_head() {
    check_grouped("all_share_one");
}

#[test]
fn task_1_grouped_with_groups_of_one() {
    check_grouped("none_share");
}

#[test]
fn task_1_grouped_mask_of_each_sequence() {
    check_grouped("mask_per_batch");
}

#[test]
fn task_1_grouped_mask_of_two_axes() {
    check_grouped("mask_shared");
}

#[test]
fn task_1_grouped_mask_of_each_query_head() {
    check_grouped("mask_per_head");
}

#[test]
fn task_1_grouped_mask_of_four_axes_with_rows_that_see_nothing() {
    check_grouped("mask_full");
}

#[test]
fn task_1_grouped_head_h_reads_key_value_head_h_over_g() {
    // One key: the output of a query head is the value of its key/value head.
    let (q, k) = (random(31, &[1, 6, 2, 4]), random(32, &[1, 2, 1, 4]));
    let v = tensor(&[1, 2, 1, 4], vec![10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 20.0, 20.0]);
    let expected = Tensor::from_shape_fn(IxDyn(&[1, 6, 2, 4]), |at| if at[1] < 3 { 10.0 } else { 20.0 });
    let found = grouped_query_attention(&q, &k, &v, None, None);
    assert_close("H_q=6, H=2, S=1; value head 0 is 10, value head 1 is 20", &found, &expected, 0.0);
}

#[test]
fn task_1_grouped_refuses_uneven_groups() {
    let (q, k, v) = (random(33, &[1, 5, 2, 4]), random(34, &[1, 2, 3, 4]), random(35, &[1, 2, 3, 4]));
    assert_panics("H_q=5, H=2", || grouped_query_attention(&q, &k, &v, None, None));
    let q = random(36, &[1, 1, 2, 4]);
    assert_panics("H_q=1, H=2", || grouped_query_attention(&q, &k, &v, None, None));
}

// Task 2: causal mask

#[track_caller]
fn check_mask(length: usize, keys: usize) {
    let fixtures = fixtures();
    fixtures.case(&format!("task_2_causal_mask/{length}x{keys}")).check("output", &causal_mask(length, keys));
}

#[test]
fn task_2_causal_mask_of_the_last_three_of_five() {
    #[rustfmt::skip]
    let expected = tensor(&[3, 5], vec![
        0.0, 0.0, 0.0, OFF, OFF,
        0.0, 0.0, 0.0, 0.0, OFF,
        0.0, 0.0, 0.0, 0.0, 0.0,
    ]);
    assert_close("causal_mask(3, 5)", &causal_mask(3, 5), &expected, 0.0);
    check_mask(3, 5);
}

#[test]
fn task_2_causal_mask_of_a_square() {
    check_mask(4, 4);
}

#[test]
fn task_2_causal_mask_of_one_query() {
    check_mask(1, 6);
}

#[test]
fn task_2_causal_mask_of_all_but_the_first() {
    check_mask(5, 6);
}

#[test]
fn task_2_causal_mask_depends_on_both_lengths() {
    for (length, keys) in [(3, 5), (3, 3), (3, 7), (3, 5)] {
        let mask = causal_mask(length, keys);
        let visible: Vec<_> = mask.rows().into_iter().map(|row| row.iter().filter(|&&x| x == 0.0).count()).collect();
        let expected: Vec<_> = (0..length).map(|i| keys - length + i + 1).collect();
        assert!(
            mask.shape() == [length, keys] && visible == expected,
            "causal_mask({length}, {keys}), called after others\n  found    {:?}, visible keys per row {visible:?}\n  expected {:?}, visible keys per row {expected:?}",
            mask.shape(),
            [length, keys],
        );
    }
}

#[test]
fn task_2_causal_mask_refuses_more_queries_than_keys() {
    assert_panics("causal_mask(4, 3)", || causal_mask(4, 3));
}

// Day 1's masked attention is part of these two, but after the mask, whose task it is.

#[test]
fn task_2_causal_mask_lets_the_first_row_see_itself_alone() {
    let mask = causal_mask(4, 4);
    let (q, k, v) = (random(37, &[1, 6, 4, 8]), random(38, &[1, 2, 4, 8]), random(39, &[1, 2, 4, 8]));
    let found = grouped_query_attention(&q, &k, &v, None, Some(&mask)).index_axis_move(Axis(2), 0);
    let expected = v.index_axis(Axis(2), 0).select(Axis(1), &[0, 0, 0, 1, 1, 1]);
    assert_close("row 0 of causal attention, compared with V[0] of each key/value head", &found, &expected, 0.0);
}

#[test]
fn task_2_causal_mask_hides_the_future() {
    let mask = causal_mask(3, 5);
    let (q, k, v) = (random(40, &[1, 6, 3, 8]), random(41, &[1, 2, 5, 8]), random(42, &[1, 2, 5, 8]));
    let before = grouped_query_attention(&q, &k, &v, None, Some(&mask));
    let (mut other_k, mut other_v) = (k.clone(), v.clone());
    other_k.index_axis_mut(Axis(2), 4).mapv_inplace(|x| 5.0 - 2.0 * x);
    other_v.index_axis_mut(Axis(2), 4).mapv_inplace(|x| 500.0 - 2.0 * x);
    let after = grouped_query_attention(&q, &other_k, &other_v, None, Some(&mask));
    let first_two = |x: &Tensor| x.slice_axis(Axis(2), (..2).into()).to_owned();
    assert_close("queries 0 and 1 after key 4 and value 4 were changed", &first_two(&after), &first_two(&before), 0.0);
}

// Task 3: the layer

/// A stand-in for the norm of day 4: each head divided by its largest magnitude, times a weight.
fn head_norm(weight: Tensor) -> HeadNorm {
    Box::new(move |x| {
        let mut out = x.clone();
        for mut head in out.rows_mut() {
            let largest = head.fold(0.0f32, |m, v| m.max(v.abs()));
            head /= largest;
        }
        out * &weight
    })
}

fn layer(case: &Case) -> GroupedQueryAttention {
    let linear = |name: &str| Linear { weight: case.tensor(&format!("{name}_proj")), bias: case.get(&format!("{name}_bias")) };
    GroupedQueryAttention {
        n_heads: case.count("n_heads"),
        n_kv_heads: case.count("n_kv_heads"),
        q_proj: linear("q"),
        k_proj: linear("k"),
        v_proj: linear("v"),
        o_proj: linear("o"),
        q_norm: case.get("q_norm").map(head_norm),
        k_norm: case.get("k_norm").map(head_norm),
        rope: Arc::new(RopeTables { cos: case.tensor("cos"), sin: case.tensor("sin") }),
    }
}

#[track_caller]
fn check_layer(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_layer/{case}"));
    case.check("output", &layer(&case).forward(&case.tensor("x"), case.get("mask").as_ref()));
}

#[test]
fn task_3_layer_of_llama_without_a_mask() {
    check_layer("llama");
}

#[test]
fn task_3_layer_of_qwen2_with_biases_padding_and_causal_mask() {
    check_layer("qwen2");
}

#[test]
fn task_3_layer_of_qwen3_with_norms_before_rope() {
    check_layer("qwen3");
}

#[test]
fn task_3_layer_with_every_bias_and_a_mask_per_head() {
    check_layer("every_bias");
}

#[test]
fn task_3_layer_of_a_prefix_is_the_prefix_of_the_layer() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_layer/qwen3");
    let (x, mask) = (case.tensor("x"), case.tensor("mask"));
    let prefix = |x: &Tensor| x.slice_axis(Axis(1), (..3).into()).to_owned();
    let mask_of_prefix = mask.slice_axis(Axis(0), (..3).into()).slice_axis(Axis(1), (..3).into()).to_owned();
    let layer = layer(&case);
    let found = layer.forward(&prefix(&x), Some(&mask_of_prefix));
    let expected = prefix(&layer.forward(&x, Some(&mask)));
    assert_close("rows 0 to 2 alone, compared with rows 0 to 2 of five, causally masked", &found, &expected, case.tolerance("output"));
}

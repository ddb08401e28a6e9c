//! Week 1, day 3: grouped-query attention, the causal mask, the attention layer.

use std::sync::Arc;

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::{
    gqa::{GroupedQueryAttention, HeadNorm, Linear, causal_mask, grouped_query_attention},
    rope::RopeTables,
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
    fixtures::{Fixtures, random},
};

mod parts;

use parts::layer;

const OFF: f32 = f32::NEG_INFINITY;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day3")
}

// Task 1: grouped attention

/// Grouped attention of arguments that fit.
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
fn task_1_grouped_attention_head_h_reads_key_value_head_h_over_g() {
    // The scores are ±200, so a query reads one of two values, by its sign, and the other has a
    // weight of e^−400 = 0.
    let q = tensor(&[1, 6, 1, 1], vec![200.0, -200.0, -200.0, 200.0, 200.0, -200.0]);
    let k = tensor(&[1, 3, 2, 1], vec![1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
    let v = tensor(&[1, 3, 2, 1], vec![11.0, 12.0, 21.0, 22.0, 31.0, 32.0]);
    let found = grouped(&q, &k, &v, None, None);
    assert_eq!(found.shape(), q.shape(), "the output has the shape of q");
    let expected = tensor(&[6], vec![11.0, 12.0, 22.0, 21.0, 31.0, 32.0]);
    let what = "what query heads of signs + − − + + − read from key/value heads that hold 11 | 12, \
                21 | 22 and 31 | 32, the left one for +";
    assert_close(what, &reshape(&found, &[6]), &expected, 0.0);
}

#[track_caller]
fn check_grouped(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_grouped/{case}"));
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
fn task_1_grouped_attention_of_neighbouring_query_heads() {
    check_grouped("plain");
}

#[test]
fn task_1_grouped_attention_with_a_given_scale() {
    check_grouped("scale_given");
}

#[test]
fn task_1_grouped_attention_with_groups_of_one() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_grouped/none_share");
    let found = grouped(&case.tensor("q"), &case.tensor("k"), &case.tensor("v"), None, None);
    // Without diagnosis: here h / H is 0 for every h, like a key/value head that is always the
    // first.
    compare(
        "grouped attention with H_q = H = 3",
        &found,
        &case.tensor("output"),
        case.tolerance("output"),
    )
    .unwrap_or_else(|text| {
        panic!("{text}\n  a group is one query head here, so query head h reads key/value head h")
    });
}

#[test]
fn task_1_grouped_attention_with_one_key_value_head() {
    check_grouped("all_share_one");
}

#[test]
fn task_1_grouped_mask_for_all_heads() {
    check_grouped("mask_shared");
}

#[test]
fn task_1_grouped_mask_for_all_heads_without_infinities() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_grouped/mask_finite");
    let found = grouped(
        &case.tensor("q"),
        &case.tensor("k"),
        &case.tensor("v"),
        None,
        case.get("mask").as_ref(),
    );
    // Without diagnosis: a mask that is ignored and one of which the −inf alone counts give the
    // same here.
    compare(
        "grouped attention with a mask of finite numbers alone",
        &found,
        &case.tensor("output"),
        case.tolerance("output"),
    )
    .unwrap_or_else(|text| {
        panic!(
            "{text}\n  this mask holds no −inf: it is added to the scores all the same, and its \
             numbers count"
        )
    });
}

#[test]
fn task_1_grouped_mask_for_each_sequence() {
    check_grouped("mask_per_batch");
}

#[test]
fn task_1_grouped_mask_of_each_query_head() {
    check_grouped("mask_per_head");
}

#[test]
fn task_1_grouped_mask_with_rows_that_see_nothing() {
    check_grouped("mask_full");
}

#[test]
fn task_1_grouped_mask_of_any_shape_that_broadcasts() {
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
        let full = mask.broadcast(IxDyn(&[2, 6, 3, 5])).expect("it broadcasts").to_owned();
        resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
            let what = format!(
                "grouped attention with a mask {shape:?}, compared with the same mask written out \
                 as [B, H_q, L, S] = [2, 6, 3, 5]"
            );
            let property = "axes are counted from the right: the last are L and S, before them \
                            H_q, then B, and one that is missing or 1 stands for all";
            let found = grouped(&q, &k, &v, None, Some(&mask));
            let written_out = grouped(&q, &k, &v, None, Some(&full));
            assert_agrees(&what, &found, &written_out, 1e-5, property);
        });
    }
}

#[test]
fn task_1_grouped_at_a_scale_of_zero() {
    let (q, k) = (random(43, &[1, 4, 2, 4]), random(44, &[1, 2, 4, 4]));
    let v = random(45, &[1, 2, 4, 4]);
    let mean = v.mean_axis(Axis(2)).expect("four keys").index_axis_move(Axis(0), 0);
    let expected = Tensor::from_shape_fn(vec![1, 4, 2, 4], |at| mean[[at[1] / 2, at[3]]]);
    resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
        assert_agrees(
            "grouped attention at a scale of 0, compared with the mean of each head's values",
            &grouped(&q, &k, &v, Some(0.0), None),
            &expected,
            1e-5,
            "Some(0.0) is a scale: all keys count alike",
        );
    });
}

#[test]
fn task_1_grouped_in_any_layout() {
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

#[test]
fn task_1_grouped_refuses_uneven_groups() {
    for h_q in [5, 1] {
        let (q, k, v) =
            (random(33, &[1, h_q, 2, 4]), random(34, &[1, 2, 3, 4]), random(35, &[1, 2, 3, 4]));
        let arguments = format!("H_q={h_q}, H=2, where no group size G makes H_q = G · H");
        assert_panics(&arguments, || grouped_query_attention(&q, &k, &v, None, None));
    }
}

/// Each query sees one key, another one each, so it returns that key's value without rounding.
#[test]
fn task_1_grouped_whatever_the_size() {
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
            "H_q = {heads}, H = {kv_heads}, {queries} queries, {keys} keys, one visible to each"
        );
        resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
            // Without diagnosis: here many mistakes return the wrong value.
            compare(&what, &grouped(&q, &k, &v, None, Some(&mask)), &expected, 0.0).unwrap_or_else(
                |text| {
                    panic!("{text}\n  the mask counts for one query, head or sequence as for many")
                },
            );
            assert_agrees(
                &format!(
                    "H_q = {heads}, H = {kv_heads}, D = 4: the scale 1, compared with 2 · q at the default scale"
                ),
                &grouped(&q, &k, &v, Some(1.0), None),
                &grouped(&(&q * 2.0), &k, &v, None, None),
                1e-5,
                "the default scale is 1/√4, so both have the same scores",
            );
        });
    }
}

// Task 2: causal mask

#[track_caller]
fn check_mask(length: usize, keys: usize) {
    let fixtures = fixtures();
    fixtures
        .case(&format!("task_2_causal_mask/{length}x{keys}"))
        .check("output", &causal_mask(length, keys));
}

#[test]
fn task_2_causal_mask_3_by_5() {
    #[rustfmt::skip]
    let expected = tensor(&[3, 5], vec![
        0.0, 0.0, 0.0, OFF, OFF,
        0.0, 0.0, 0.0, 0.0, OFF,
        0.0, 0.0, 0.0, 0.0, 0.0,
    ]);
    let mask = causal_mask(3, 5);
    assert!(
        mask.iter().any(|&x| x != 0.0),
        "causal_mask(3, 5) is 0 throughout, so it hides nothing, and a token sees the future: keys \
         after S − L + i get −inf"
    );
    assert_close("causal_mask(3, 5)", &mask, &expected, 0.0);
    check_mask(3, 5);
}

#[test]
fn task_2_causal_mask_4_by_4() {
    check_mask(4, 4);
}

#[test]
fn task_2_causal_mask_5_by_8() {
    check_mask(5, 8);
}

#[test]
fn task_2_causal_mask_depends_on_both_lengths() {
    let mut earlier = Vec::new();
    for (length, keys) in [(3, 5), (3, 3), (2, 3), (3, 7)] {
        let mask = causal_mask(length, keys);
        let shape = mask.shape();
        assert!(
            shape == [length, keys] || !earlier.iter().any(|call| shape == call),
            "causal_mask({length}, {keys}), called after others, has the shape {shape:?} of an \
             earlier call: a mask that is kept for later must be kept by L and by S"
        );
        assert!(
            shape == [length, keys],
            "causal_mask({length}, {keys}): wrong shape {shape:?}, expected [L, S] = [{length}, \
             {keys}]"
        );
        earlier.push([length, keys]);
    }
}

#[test]
fn task_2_causal_mask_of_one_query_hides_nothing() {
    let mask = causal_mask(1, 6);
    assert!(
        mask.iter().all(|&x| x == 0.0),
        "causal_mask(1, 6)\n  found    {mask}\n  expected zeros: a single query is the last \
         position, and sees all six keys"
    );
}

#[test]
fn task_2_causal_mask_whatever_the_size() {
    for (length, keys) in [(130, 130), (100, 300), (3, 5000)] {
        let mask = causal_mask(length, keys);
        assert_eq!(mask.shape(), [length, keys], "the shape of causal_mask({length}, {keys})");
        for ((query, key), &found) in
            mask.into_dimensionality::<ndarray::Ix2>().expect("two axes").indexed_iter()
        {
            let position = keys - length + query;
            let expected = if key <= position { 0.0 } else { OFF };
            assert!(
                found == expected,
                "causal_mask({length}, {keys}) at query {query}, key {key}: found {found:?}, expected {expected:?}: the query stands at position {position}, and sees all that is not behind it"
            );
        }
    }
}

#[test]
fn task_2_causal_mask_of_no_queries() {
    for keys in [3, 0] {
        let call = format!("causal_mask(0, {keys})");
        let mask = assert_accepts(&call, || causal_mask(0, keys));
        assert_eq!(mask.shape(), [0, keys], "the shape of {call}, [L, S]");
    }
}

#[test]
fn task_2_causal_mask_refuses_more_queries_than_keys() {
    assert_panics("causal_mask(4, 3), where 4 queries cannot be the last of 3 positions", || {
        causal_mask(4, 3)
    });
    assert_panics("causal_mask(1, 0), a query of no positions", || causal_mask(1, 0));
}

// Day 1's masked attention is part of these two, but after the mask, whose task it is.

#[test]
fn task_2_causal_mask_row_0_sees_itself_alone() {
    let mask = causal_mask(4, 4);
    let (q, k, v) =
        (random(37, &[1, 6, 4, 8]), random(38, &[1, 2, 4, 8]), random(39, &[1, 2, 4, 8]));
    let found = grouped_query_attention(&q, &k, &v, None, Some(&mask)).index_axis_move(Axis(2), 0);
    let expected = v.index_axis(Axis(2), 0).select(Axis(1), &[0, 0, 0, 1, 1, 1]);
    // Without diagnosis, as masks that differ in later rows have this row in common.
    compare(
        "row 0 of causal attention, compared with V[0] of each key/value head",
        &found,
        &expected,
        0.0,
    )
    .unwrap_or_else(|text| panic!("{text}"));
}

#[test]
fn task_2_causal_mask_seals_off_the_future() {
    let mask = causal_mask(3, 5);
    let (q, k, v) =
        (random(40, &[1, 6, 3, 8]), random(41, &[1, 2, 5, 8]), random(42, &[1, 2, 5, 8]));
    let before = grouped_query_attention(&q, &k, &v, None, Some(&mask));
    let (mut other_k, mut other_v) = (k.clone(), v.clone());
    other_k.index_axis_mut(Axis(2), 4).mapv_inplace(|x| 5.0 - 2.0 * x);
    other_v.index_axis_mut(Axis(2), 4).mapv_inplace(|x| 500.0 - 2.0 * x);
    let after = grouped_query_attention(&q, &other_k, &other_v, None, Some(&mask));
    let first_two = |x: &Tensor| x.slice_axis(Axis(2), (..2).into()).to_owned();
    let what = "queries 0 and 1 of causal attention after key 4 and value 4 were changed, compared \
                with before";
    assert_agrees(
        what,
        &first_two(&after),
        &first_two(&before),
        0.0,
        "key 4 is the future of both, so it has no influence",
    );
}

// Task 3: the layer

#[track_caller]
fn check_layer(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_layer/{case}"));
    let (x, layer) = (case.tensor("x"), layer(&case));
    let [b, l, _] = *x.shape() else { panic!("x is [B, L, E]") };
    let heads = |n: usize| [b, n, l, layer.q_proj.weight.len_of(Axis(0)) / layer.n_heads];
    let (q, kv) = (heads(layer.n_heads), heads(layer.n_kv_heads));
    let arguments = format!(
        "the layer of x {:?}, in which q is {q:?} after the split, and k and v are {kv:?}",
        x.shape()
    );
    resting_on(&parts::OF_A_LAYER, || {
        let found = assert_accepts(&arguments, || layer.forward(&x, case.get("mask").as_ref()));
        case.check("output", &found);
    });
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
fn task_3_layer_prefix_is_the_prefix_of_the_layer() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_layer/qwen3");
    let (x, mask) = (case.tensor("x"), case.tensor("mask"));
    let prefix = |x: &Tensor| x.slice_axis(Axis(1), (..3).into()).to_owned();
    let mask_of_prefix =
        mask.slice_axis(Axis(0), (..3).into()).slice_axis(Axis(1), (..3).into()).to_owned();
    let layer = layer(&case);
    let found = layer.forward(&prefix(&x), Some(&mask_of_prefix));
    let of_five = prefix(&layer.forward(&x, Some(&mask)));
    let what = "rows 0 to 2 alone, compared with rows 0 to 2 of five, causally masked";
    assert_agrees(
        what,
        &found,
        &of_five,
        case.tolerance("output"),
        "behind a causal mask a row does not depend on those after it",
    );
}

#[test]
fn task_3_layer_in_any_layout() {
    let (x, mask) = (random(51, &[2, 3, 8]), random(52, &[3, 3]));
    let layer = plain_layer(4, 2);
    resting_on(&parts::OF_A_LAYER, || {
        assert_any_layout("a layer", &x, 1e-5, |x| layer.forward(x, Some(&mask)));
        assert_any_layout("a layer with a mask", &mask, 1e-5, |mask| layer.forward(&x, Some(mask)));
    });
}

/// Axes of a mask are counted from the right, and one that is missing or 1 stands for all.
#[test]
fn task_3_layer_with_a_mask_of_any_shape_that_broadcasts() {
    let x = random(51, &[2, 3, 8]);
    let layer = plain_layer(4, 2);
    for shape in [
        &[3][..],
        &[1, 3],
        &[3, 3],
        &[4, 3, 3],
        &[4, 1, 3],
        &[2, 1, 1, 3],
        &[2, 1, 3, 3],
        &[2, 4, 3, 3],
    ] {
        let mask = random(52, shape);
        let full = mask.broadcast(IxDyn(&[2, 4, 3, 3])).expect("it broadcasts").to_owned();
        let what = format!(
            "a layer of four query heads with a mask {shape:?}, compared with the same mask written \
             out as [B, H_q, L, L] = [2, 4, 3, 3]"
        );
        resting_on(&parts::OF_A_LAYER, || {
            let found = assert_accepts(&what, || layer.forward(&x, Some(&mask)));
            assert_agrees(
                &what,
                &found,
                &layer.forward(&x, Some(&full)),
                1e-5,
                "a mask counts for all that it does not tell apart",
            );
        });
    }
}

/// A layer that projects nothing and turns nothing.
fn plain_layer(n_heads: usize, n_kv_heads: usize) -> GroupedQueryAttention {
    let repeated = |out: usize| Linear {
        weight: Tensor::from_shape_fn(vec![out, 8], |at| f32::from(at[0] == at[1])),
        bias: None,
    };
    let size = 8 / n_heads;
    GroupedQueryAttention {
        n_heads,
        n_kv_heads,
        q_proj: repeated(8),
        k_proj: repeated(n_kv_heads * size),
        v_proj: repeated(n_kv_heads * size),
        o_proj: repeated(8),
        q_norm: None,
        k_norm: None,
        rope: Arc::new(RopeTables {
            cos: Tensor::ones(IxDyn(&[8, size / 2])),
            sin: Tensor::zeros(IxDyn(&[8, size / 2])),
        }),
    }
}

#[test]
fn task_3_layer_whatever_the_number_of_heads() {
    for (heads, kv_heads, batch, length) in
        [(2, 2, 1, 4), (1, 1, 1, 4), (4, 4, 2, 3), (4, 2, 1, 3), (4, 1, 1, 3)]
    {
        let x = random(49, &[batch, length, 8]);
        let mask = Tensor::from_shape_fn(vec![length, length], |at| {
            if at[0] + at[1] == length - 1 { 0.0 } else { OFF }
        });
        let size = 8 / heads;
        let expected = Tensor::from_shape_fn(vec![batch, length, 8], |at| {
            let head = at[2] / size * kv_heads / heads;
            x[[at[0], length - 1 - at[1], head * size + at[2] % size]]
        });
        resting_on(&parts::OF_A_LAYER, || {
            // Without diagnosis: weights that change nothing hide many mistakes.
            compare(
                &format!("a layer whose projections change nothing, H_q = {heads}, H = {kv_heads}, x [{batch}, {length}, 8], one key visible to each query"),
                &plain_layer(heads, kv_heads).forward(&x, Some(&mask)),
                &expected,
                0.0,
            )
            .unwrap_or_else(|text| panic!("{text}\n  each query sees one key, so it returns that key's value"));
        });
    }
}

#[test]
fn task_3_layer_with_one_norm_alone() {
    let x = random(50, &[2, 4, 8]);
    let mean = x.mean_axis(Axis(1)).expect("four rows").insert_axis(Axis(1));
    let mean = mean.broadcast(IxDyn(&[2, 4, 8])).expect("the same for every query").to_owned();
    for of_queries in [true, false] {
        let mut layer = plain_layer(2, 2);
        let zeros: HeadNorm = Box::new(|x| x * 0.0);
        *if of_queries { &mut layer.q_norm } else { &mut layer.k_norm } = Some(zeros);
        let which = if of_queries { "q_norm" } else { "k_norm" };
        resting_on(&parts::OF_A_LAYER, || {
            compare(
                &format!("a layer with a {which} alone, which makes all zeros"),
                &layer.forward(&x, None),
                &mean,
                2e-6,
            )
            .unwrap_or_else(|text| {
                panic!("{text}\n  scores of zeros give the mean of all values; a layer may have one of the two norms")
            });
        });
    }
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day3.rs"]
mod fresh;

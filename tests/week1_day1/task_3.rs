//! Week 1, day 1, task 3: multi-head attention.

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::attention::{MultiHeadAttention, merge_heads, split_heads};
use tiny_llm_formats::Tensor;
use tiny_llm_harness::{
    check::{
        assert_accepts, assert_agrees, assert_any_layout, assert_close, assert_close_because,
        resting_on,
    },
    fixtures::{Case, random},
};

use super::{OFF, fixtures, parts};

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
    let case = fixtures().case(&format!("task_3_multi_head/{case}"));
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
fn task_3_split_heads_takes_consecutive_columns_per_head() {
    let case = fixtures().case("task_3_heads/split");
    case.check("output", &split_heads(&case.tensor("x"), case.count("n_heads")));
}

#[test]
fn task_3_merge_heads_concatenates_heads() {
    let case = fixtures().case("task_3_heads/split");
    let what = "merge_heads of correct heads [2, 3, 4, 8], which do not come from your split_heads";
    assert_close(what, &merge_heads(&case.tensor("output")), &case.tensor("x"), 0.0);
}

#[test]
fn task_3_split_and_merge_heads_in_any_layout() {
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
fn task_3_multi_head_cross_attention() {
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
fn task_3_multi_head_attention_is_independent_of_the_batch() {
    let case = fixtures().case("task_3_multi_head/cross");
    let layer = multi_head(&case);
    let part = |name: &str, b: usize| case.tensor(name).select(Axis(0), &[b]);
    let parts: Vec<_> = (0..2)
        .map(|b| layer.forward(&part("query", b), &part("key", b), &part("value", b), None))
        .collect();
    let parts =
        ndarray::concatenate(Axis(0), &[parts[0].view(), parts[1].view()]).expect("same shapes");
    let what = "task_3_multi_head/cross, with each sequence of the batch computed separately";
    assert_close(what, &parts, &case.tensor("output"), case.tolerance("output"));
}

#[test]
fn task_3_multi_head_attention_is_independent_of_key_order() {
    let case = fixtures().case("task_3_multi_head/cross");
    let order = [3, 1, 4, 0, 2];
    let (key, value) =
        (case.tensor("key").select(Axis(1), &order), case.tensor("value").select(Axis(1), &order));
    let found = multi_head(&case).forward(&case.tensor("query"), &key, &value, None);
    let what = "task_3_multi_head/cross, with keys and values reordered to 3, 1, 4, 0, 2";
    assert_close(what, &found, &case.tensor("output"), case.tolerance("output"));
}

#[test]
fn task_3_multi_head_attention_mask_broadcasts_to_scores() {
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
        let full = mask
            .broadcast(IxDyn(&[2, 4, 3, 5]))
            .expect("the mask must broadcast to these axes")
            .to_owned();
        let what = format!(
            "multi-head attention of four heads with a mask {shape:?}, compared with the mask \
             expanded to [B, H, L, S] = [2, 4, 3, 5]"
        );
        let property = "count axes from the right: S, L, H, B; an axis that is missing or has \
                        length 1 is broadcast";
        resting_on(&[parts::SOFTMAX, parts::ATTENTION, parts::HEADS], || {
            let attend = |mask| layer.forward(&query, &key, &value, Some(mask));
            let found = assert_accepts(&what, || attend(&mask));
            assert_agrees(&what, &found, &attend(&full), 1e-5, property);
        });
    }
}

/// Identity weights, so each head returns its part of the one visible value.
#[test]
fn task_3_multi_head_attention_applies_mask_at_various_sizes() {
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
            assert_close_because(
                &format!(
                    "multi-head attention, n_heads {n_heads}, of query [{batch}, {length}, 4] over \
                     {keys} keys, where each query sees one key"
                ),
                &layer.forward(&query, &key, &value, Some(&mask)),
                &value.select(Axis(1), &seen),
                0.0,
                "apply the mask even if there is only one head, query or sequence",
            );
        });
    }
}

#[test]
fn task_3_multi_head_attention_is_linear_in_value() {
    let case = fixtures().case("task_3_multi_head/self");
    let layer = multi_head(&case);
    let query = case.tensor("query");
    let attend = |value: &Tensor| layer.forward(&query, &query, value, None);
    assert_agrees(
        "multi-head attention of query, query and −2 · query, compared with −2 · (multi-head \
         attention of query, query and query)",
        &attend(&(&query * -2.0)),
        &(attend(&query) * -2.0),
        0.0,
        "the weights depend only on query and key, and the result is a weighted sum of values",
    );
}

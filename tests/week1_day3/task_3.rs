//! Week 1, day 3, task 3: the layer.

use super::parts::layer;
use ndarray::{Axis, IxDyn};
use std::sync::Arc;
use tiny_llm::week1::{
    gqa::{GroupedQueryAttention, HeadNorm, Linear},
    rope::RopeTables,
};
use tiny_llm_formats::Tensor;
use tiny_llm_harness::{
    check::{assert_accepts, assert_agrees, assert_any_layout, assert_close_because, resting_on},
    fixtures::random,
};

use super::{OFF, fixtures, parts};

#[track_caller]
fn check_layer(case: &str) {
    let case = fixtures().case(&format!("task_3_layer/{case}"));
    let (x, layer) = (case.tensor("x"), layer(&case));
    let [b, l, _] = *x.shape() else { panic!("x is [B, L, E]") };
    let heads = |n: usize| [b, n, l, layer.q_proj.weight.len_of(Axis(0)) / layer.n_heads];
    let (q, kv) = (heads(layer.n_heads), heads(layer.n_kv_heads));
    let arguments = format!(
        "the layer of x {:?}, where q is {q:?} after the split, and k and v are {kv:?}",
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
fn task_3_layer_output_is_independent_of_later_rows() {
    let case = fixtures().case("task_3_layer/qwen3");
    let (x, mask) = (case.tensor("x"), case.tensor("mask"));
    let prefix = |x: &Tensor| x.slice_axis(Axis(1), (..3).into()).to_owned();
    let mask_of_prefix =
        mask.slice_axis(Axis(0), (..3).into()).slice_axis(Axis(1), (..3).into()).to_owned();
    let layer = layer(&case);
    let found = layer.forward(&prefix(&x), Some(&mask_of_prefix));
    let of_five = prefix(&layer.forward(&x, Some(&mask)));
    let what = "a layer on rows 0 to 2, compared with rows 0 to 2 of the layer on five rows, both \
                with a causal mask";
    assert_agrees(
        what,
        &found,
        &of_five,
        case.tolerance("output"),
        "with a causal mask a row must not depend on later rows",
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

/// The axes of a mask are counted from the right. One that is missing or has length 1 is broadcast.
#[test]
fn task_3_layer_mask_broadcasts_to_scores() {
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
        let full = mask
            .broadcast(IxDyn(&[2, 4, 3, 3]))
            .expect("the mask must broadcast to these axes")
            .to_owned();
        let what = format!(
            "a layer of four query heads with a mask {shape:?}, compared with the mask expanded to \
             [B, H_q, L, L] = [2, 4, 3, 3]"
        );
        resting_on(&parts::OF_A_LAYER, || {
            let found = assert_accepts(&what, || layer.forward(&x, Some(&mask)));
            assert_agrees(
                &what,
                &found,
                &layer.forward(&x, Some(&full)),
                1e-5,
                "count axes from the right; an axis that is missing or has length 1 is broadcast",
            );
        });
    }
}

/// Returns a layer with identity projections and no rotation.
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
fn task_3_layer_with_various_head_counts() {
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
            // Without diagnosis: identity weights hide many mistakes.
            assert_close_because(
                &format!(
                    "a layer with identity projections, H_q = {heads}, H = {kv_heads}, x [{batch}, \
                     {length}, 8], where each query sees one key"
                ),
                &plain_layer(heads, kv_heads).forward(&x, Some(&mask)),
                &expected,
                0.0,
                "each query must return the value of the one key that it sees",
            );
        });
    }
}

#[test]
fn task_3_layer_with_only_one_norm() {
    let x = random(50, &[2, 4, 8]);
    let mean = x.mean_axis(Axis(1)).expect("four rows").insert_axis(Axis(1));
    let mean = mean.broadcast(IxDyn(&[2, 4, 8])).expect("the same for every query").to_owned();
    for of_queries in [true, false] {
        let mut layer = plain_layer(2, 2);
        let zeros: HeadNorm = Box::new(|x| x * 0.0);
        *if of_queries { &mut layer.q_norm } else { &mut layer.k_norm } = Some(zeros);
        let which = if of_queries { "q_norm" } else { "k_norm" };
        resting_on(&parts::OF_A_LAYER, || {
            assert_close_because(
                &format!("a layer with only a {which}, which returns zeros"),
                &layer.forward(&x, None),
                &mean,
                2e-6,
                "all scores are 0, so the result is the mean of all values; a layer may have one \
                 of the two norms without the other",
            );
        });
    }
}

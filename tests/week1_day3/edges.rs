//! Week 1, day 3: any scale and mask, different arguments of the same shape, and norms and biases
//! one at a time.

use std::sync::Arc;

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::{
    gqa::{GroupedQueryAttention, HeadNorm, Linear, causal_mask, grouped_query_attention},
    rope::RopeTables,
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_agrees, assert_close_because, assert_panics, resting_on},
    fixtures::random,
};

use super::{OFF, fixtures, parts};

#[test]
fn task_1_grouped_attention_with_positive_and_negative_scales() {
    let (q, k) = (random(81, &[2, 4, 3, 4]), random(82, &[2, 2, 5, 4]));
    let v = random(83, &[2, 2, 5, 4]);
    let attend = |q: &Tensor, scale| grouped_query_attention(q, &k, &v, Some(scale), None);
    for scale in [0.5, 2.0, 1.0, 0.125, 2f32.powi(-40)] {
        resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
            assert_agrees(
                &format!(
                    "grouped attention of q with scale −{scale}, compared with −q with scale \
                     {scale}"
                ),
                &attend(&q, -scale),
                &attend(&-&q, scale),
                1e-6,
                "the scores are the same, including their signs",
            );
            assert_agrees(
                &format!(
                    "grouped attention of q with scale {scale}, compared with {scale} · q with \
                     scale 1"
                ),
                &attend(&q, scale),
                &attend(&(&q * scale), 1.0),
                1e-5,
                "both have the same scores",
            );
        });
    }
}

#[test]
fn task_1_grouped_attention_adds_finite_mask_to_scores() {
    let (q, k) = (Tensor::zeros(vec![1, 4, 2, 4]), random(82, &[1, 2, 3, 4]));
    let v = random(83, &[1, 2, 3, 4]);
    let differences = [[0.0, -1.0, -0.5], [-2.0, 0.25, 0.0]];
    let weight = |row: usize, key: usize| {
        let sum: f64 = differences[row].iter().map(|x: &f64| x.exp()).sum();
        differences[row][key].exp() / sum
    };
    let expected = Tensor::from_shape_fn(vec![1, 4, 2, 4], |at| {
        let of = |key: usize| weight(at[2], key) * f64::from(v[[0, at[1] / 2, key, at[3]]]);
        (0..3).map(of).sum::<f64>() as f32
    });
    for base in [-100.0, -9999.0, -20_000.0, 30_000.0] {
        let mask =
            Tensor::from_shape_fn(vec![2, 3], |at| (base + differences[at[0]][at[1]]) as f32);
        resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
            assert_close_because(
                &format!("grouped attention of zero queries with the mask {mask}"),
                &grouped_query_attention(&q, &k, &v, None, Some(&mask)),
                &expected,
                // Scores of this size are 2⁻⁹ apart.
                1e-2,
                "only −inf hides a key: a finite number in the mask is added to the score, however \
                 low it is",
            );
        });
    }
}

/// q, k and v have the same shape, but are different tensors.
#[test]
fn task_1_grouped_attention_with_distinct_q_k_v_of_equal_shape() {
    let place = |b: usize, h: usize, i: usize| (3 * i + b + h + 1) % 4;
    let shape = vec![2, 3, 4, 4];
    let q = Tensor::from_shape_fn(shape.clone(), |at| if at[2] == at[3] { 400.0 } else { 0.0 });
    let k =
        Tensor::from_shape_fn(shape.clone(), |at| f32::from(place(at[0], at[1], at[3]) == at[2]));
    let v = random(84, &shape);
    let expected =
        Tensor::from_shape_fn(shape, |at| v[[at[0], at[1], place(at[0], at[1], at[2]), at[3]]]);
    resting_on(&[parts::SOFTMAX, parts::ATTENTION], || {
        assert_close_because(
            "grouped attention of three different tensors q, k and v [2, 3, 4, 4], where each \
             query matches one key",
            &grouped_query_attention(&q, &k, &v, None, None),
            &expected,
            0.0,
            "each query must return the value of its matching key",
        );
    });
}

#[test]
fn task_1_grouped_attention_panics_if_h_q_is_not_multiple_of_h() {
    for (h_q, h) in [(5, 2), (1, 2), (2, 4), (3, 2), (7, 3), (4, 8)] {
        let (q, k) = (random(85, &[1, h_q, 2, 4]), random(86, &[1, h, 3, 4]));
        assert_panics(
            &format!(
                "grouped attention with H_q = {h_q}, H = {h}, where H_q is not a multiple of H"
            ),
            || grouped_query_attention(&q, &k, &k, None, None),
        );
    }
}

#[test]
fn task_2_causal_mask_edge_cases() {
    for (length, keys) in [(1, 1), (2, 2), (1, 2), (5, 5)] {
        let what = format!("causal_mask({length}, {keys})");
        let mask = assert_accepts(&what, || causal_mask(length, keys));
        let expected = Tensor::from_shape_fn(vec![length, keys], |at| {
            if at[1] <= keys - length + at[0] { 0.0 } else { OFF }
        });
        let why = "a query sees its own position and all earlier ones";
        assert_close_because(&what, &mask, &expected, 0.0, why);
    }
    for (length, keys) in [(1, 0), (2, 1), (5, 4), (100, 3), (usize::MAX, 4)] {
        assert_panics(
            &format!("causal_mask({length}, {keys}), which has more queries than keys"),
            || causal_mask(length, keys),
        );
    }
}

/// Returns a layer with different weights in each projection. The last element of each input row is
/// 1, so a column of the weight can replace a bias.
fn layer() -> GroupedQueryAttention {
    let linear =
        |seed, out, width| Linear { weight: random(seed, &[out, width]) * 0.5, bias: None };
    let case = fixtures().case("task_3_layer/llama");
    let size = 2 * case.tensor("cos").shape()[1];
    GroupedQueryAttention {
        n_heads: 4,
        n_kv_heads: 2,
        q_proj: linear(91, 4 * size, 6),
        k_proj: linear(92, 2 * size, 6),
        v_proj: linear(93, 2 * size, 6),
        o_proj: linear(94, 6, 4 * size),
        q_norm: None,
        k_norm: None,
        rope: Arc::new(RopeTables { cos: case.tensor("cos"), sin: case.tensor("sin") }),
    }
}

fn input() -> Tensor {
    let mut x = random(95, &[2, 3, 6]);
    x.index_axis_mut(Axis(2), 5).fill(1.0);
    x
}

#[test]
fn task_3_layer_with_bias_in_one_projection() {
    let (x, mask) = (input(), causal_mask(3, 3));
    for (seed, name) in [(1, "q_proj"), (2, "k_proj"), (3, "v_proj")] {
        let of = |layer: &mut GroupedQueryAttention, change: &dyn Fn(&mut Linear)| {
            change(match name {
                "q_proj" => &mut layer.q_proj,
                "k_proj" => &mut layer.k_proj,
                _ => &mut layer.v_proj,
            });
        };
        let (mut with_bias, mut with_column) = (layer(), layer());
        let bias = |out: usize| random(seed, &[out]);
        of(&mut with_bias, &|linear| linear.bias = Some(bias(linear.weight.len_of(Axis(0)))));
        of(&mut with_column, &|linear| {
            let bias = bias(linear.weight.len_of(Axis(0)));
            let mut column = linear.weight.index_axis_mut(Axis(1), 5);
            column += &bias;
        });
        resting_on(&parts::OF_A_LAYER, || {
            assert_agrees(
                &format!(
                    "a layer with a bias only in {name}, compared with a layer that has the bias \
                     in the last column of that weight (the last element of each row of x is 1)"
                ),
                &with_bias.forward(&x, Some(&mask)),
                &with_column.forward(&x, Some(&mask)),
                1e-4,
                "each projection must add its own bias once, before norm and RoPE",
            );
        });
    }
    let (without, mut with) = (layer(), layer());
    let bias = random(4, &[6]);
    with.o_proj.bias = Some(bias.clone());
    resting_on(&parts::OF_A_LAYER, || {
        assert_agrees(
            "a layer with a bias in o_proj, compared with (the layer without it) + bias",
            &with.forward(&x, Some(&mask)),
            &(without.forward(&x, Some(&mask)) + bias),
            1e-5,
            "o_proj must add its bias once to each row",
        );
    });
}

/// A norm that multiplies by a factor is equivalent to that factor in its projection's weight.
#[test]
fn task_3_layer_applies_q_norm_to_queries_and_k_norm_to_keys() {
    let (x, mask) = (input(), causal_mask(3, 3));
    for (of_queries, of_keys) in [(2.0, 1.0), (1.0, -2.0), (-0.5, 4.0)] {
        let (mut normed, mut weighted) = (layer(), layer());
        let norm = |factor: f32| -> Option<HeadNorm> {
            (factor != 1.0).then(|| Box::new(move |x: &Tensor| x * factor) as HeadNorm)
        };
        (normed.q_norm, normed.k_norm) = (norm(of_queries), norm(of_keys));
        weighted.q_proj.weight *= of_queries;
        weighted.k_proj.weight *= of_keys;
        let said = |name: &str, factor: f32| match factor {
            1.0 => format!("no {name}"),
            factor => format!("a {name} that multiplies by {factor}"),
        };
        resting_on(&parts::OF_A_LAYER, || {
            assert_agrees(
                &format!(
                    "a layer with {} and {}, compared with a layer that has the factors in its \
                     weights",
                    said("q_norm", of_queries),
                    said("k_norm", of_keys)
                ),
                &normed.forward(&x, Some(&mask)),
                &weighted.forward(&x, Some(&mask)),
                1e-6,
                "q_norm applies only to queries and k_norm only to keys; without a norm nothing is \
                 normalised",
            );
        });
    }
}

#[test]
fn task_3_layer_adds_finite_mask_to_scores() {
    let (x, layer) = (input(), layer());
    let mask = random(96, &[3, 3]).mapv(|x| (x * 8.0).round() / 8.0);
    resting_on(&parts::OF_A_LAYER, || {
        for base in [-20_000.0, 1000.0] {
            assert_agrees(
                &format!(
                    "a layer with a finite mask + {base}, compared with the finite mask alone"
                ),
                &layer.forward(&x, Some(&(&mask + base))),
                &layer.forward(&x, Some(&mask)),
                // Scores of this size are rounded to multiples of 2⁻⁹.
                2e-1,
                "a constant added to a whole row of scores cancels out: only −inf hides a key",
            );
        }
        let zeros = Tensor::zeros(IxDyn(&[3, 3]));
        assert_agrees(
            "a layer with a mask of zeros, compared with no mask",
            &layer.forward(&x, Some(&zeros)),
            &layer.forward(&x, None),
            1e-6,
            "a mask of zeros hides nothing, and neither does a missing mask",
        );
    });
    let row = tensor(&[1, 1, 6], vec![0.5, -1.0, 2.0, 0.25, 1.0, 1.0]);
    resting_on(&parts::OF_A_LAYER, || {
        assert_agrees(
            "a layer of one row with the mask [[-30000]], compared with no mask",
            &layer.forward(&row, Some(&tensor(&[1, 1], vec![-30_000.0]))),
            &layer.forward(&row, None),
            1e-6,
            "a single key has weight 1, whatever finite number is added to its score",
        );
    });
}

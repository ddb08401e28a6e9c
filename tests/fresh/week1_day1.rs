//! Week 1, day 1, on fresh inputs.

use ndarray::{Axis, concatenate};
use tiny_llm::week1::attention::{
    MultiHeadAttention, linear, merge_heads, scaled_dot_product_attention, softmax, split_heads,
};
use tiny_llm_formats::Tensor;
use tiny_llm_harness::fresh::Fresh;

const OFF: f32 = f32::NEG_INFINITY;

/// Returns a random mask of 0 and −∞. Every row has a 0.
fn mask(fresh: &Fresh, shape: &[usize]) -> Tensor {
    let mut mask = fresh.tensor(shape).mapv(|x| if x < 0.0 { OFF } else { 0.0 });
    mask.index_axis_mut(Axis(shape.len() - 1), 0).fill(0.0);
    mask
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week1-day1 task 1");
    let x = fresh.tensor(&[2, 3, 5]);
    fresh.answer("softmax", &softmax(&x), 1e-5);
    // A solution may subtract the logarithm of the sum together with the maximum. Then a result may
    // be wrong by the rounding error of the maximum.
    let large = &x * 300.0;
    fresh.answer("softmax of large numbers", &softmax(&large), 1e-4);
    let far = &x - 500.0;
    fresh.answer("softmax of numbers far below 0", &softmax(&far), 1e-4);
    let rows = fresh.tensor(&[3, 6]) + mask(&fresh, &[3, 6]);
    let hidden = Tensor::from_elem(vec![1, 6], OFF);
    let rows = concatenate(Axis(0), &[rows.view(), hidden.view()]).expect("rows of one width");
    fresh.answer("softmax with hidden entries", &softmax(&rows), 1e-5);

    let (weight, bias) = (fresh.tensor(&[4, 5]), fresh.tensor(&[4]));
    fresh.answer("linear with a bias", &linear(&x, &weight, Some(&bias)), 1e-4);
    let square = fresh.tensor(&[5, 5]);
    fresh.answer("linear without", &linear(&x, &square, None), 1e-4);
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week1-day1 task 2");
    let (l, s, d) = (fresh.from_to(2, 4), fresh.from_to(5, 7), fresh.from_to(3, 6));
    let lead = [2, 3];
    let shape = |n: usize| [lead[0], lead[1], n, d];
    let (q, k, v) = (fresh.tensor(&shape(l)), fresh.tensor(&shape(s)), fresh.tensor(&shape(s)));
    let mask = mask(&fresh, &[l, s]);
    let scale = 0.1 + fresh.uniform() as f32;
    let attend = scaled_dot_product_attention;
    fresh.answer("no mask", &attend(&q, &k, &v, None, None), 1e-4);
    fresh.answer("a mask", &attend(&q, &k, &v, None, Some(&mask)), 1e-4);
    fresh.answer("a scale", &attend(&q, &k, &v, Some(scale), Some(&mask)), 1e-4);
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week1-day1 task 3");
    let (heads, d, e) = (3, 2, 5);
    let x = fresh.tensor(&[2, 4, heads * d]);
    let split = split_heads(&x, heads);
    fresh.answer("split_heads", &split, 0.0);
    let heads_first = fresh.tensor(&[2, heads, 4, d]);
    fresh.answer("merge_heads", &merge_heads(&heads_first), 0.0);
    let layer = MultiHeadAttention {
        n_heads: heads,
        q_proj: fresh.tensor(&[heads * d, e]),
        k_proj: fresh.tensor(&[heads * d, e]),
        v_proj: fresh.tensor(&[heads * d, e]),
        o_proj: fresh.tensor(&[e, heads * d]),
    };
    let (query, key, value) =
        (fresh.tensor(&[2, 3, e]), fresh.tensor(&[2, 4, e]), fresh.tensor(&[2, 4, e]));
    let mask = mask(&fresh, &[3, 4]);
    fresh.answer("forward", &layer.forward(&query, &key, &value, Some(&mask)), 1e-3);
    fresh.answer("without a mask", &layer.forward(&query, &key, &value, None), 1e-3);
}

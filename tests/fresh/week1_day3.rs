//! Week 1, day 3, on fresh inputs.

use std::sync::Arc;

use tiny_llm::week1::{
    gqa::{GroupedQueryAttention, HeadNorm, Linear, causal_mask, grouped_query_attention},
    rope::RopeTables,
};
use tiny_llm_formats::Tensor;
use tiny_llm_harness::fresh::Fresh;

fn mask(fresh: &Fresh, shape: &[usize]) -> Tensor {
    fresh.tensor(shape).mapv(|x| if x < -0.5 { f32::NEG_INFINITY } else { x })
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week1-day3 task 1");
    let (heads, group, l, s, d) =
        (2, fresh.from_to(2, 4), fresh.from_to(2, 4), fresh.from_to(4, 7), fresh.from_to(3, 6));
    let q = fresh.tensor(&[2, heads * group, l, d]);
    let (k, v) = (fresh.tensor(&[2, heads, s, d]), fresh.tensor(&[2, heads, s, d]));
    let mask = mask(&fresh, &[2, heads * group, l, s]);
    let scale = 0.1 + fresh.uniform() as f32;
    let attend = grouped_query_attention;
    fresh.answer("no mask", &attend(&q, &k, &v, None, None), 1e-4);
    fresh.answer("a mask for each head", &attend(&q, &k, &v, Some(scale), Some(&mask)), 1e-4);
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week1-day3 task 2");
    for _ in 0..3 {
        let length = fresh.from_to(1, 12);
        let keys = length + fresh.below(9);
        fresh.answer("causal mask", &causal_mask(length, keys), 0.0);
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week1-day3 task 3");
    let (heads, kv_heads, d, e, l) = (4, 2, 6, 5, fresh.from_to(3, 6));
    for with_norms in [false, true] {
        let linear = |out: usize, width: usize| Linear {
            weight: fresh.tensor(&[out, width]),
            bias: (!with_norms).then(|| fresh.tensor(&[out])),
        };
        let (q_proj, k_proj, v_proj, o_proj) = (
            linear(heads * d, e),
            linear(kv_heads * d, e),
            linear(kv_heads * d, e),
            linear(e, heads * d),
        );
        let norm = || {
            let factor = fresh.f32();
            with_norms.then(|| Box::new(move |x: &Tensor| x * factor) as HeadNorm)
        };
        let (q_norm, k_norm) = (norm(), norm());
        let rope = RopeTables { cos: fresh.tensor(&[9, d / 2]), sin: fresh.tensor(&[9, d / 2]) };
        let layer = GroupedQueryAttention {
            n_heads: heads,
            n_kv_heads: kv_heads,
            q_proj,
            k_proj,
            v_proj,
            o_proj,
            q_norm,
            k_norm,
            rope: Arc::new(rope),
        };
        let (x, mask) = (fresh.tensor(&[2, l, e]), mask(&fresh, &[heads, l, l]));
        fresh.answer("forward", &layer.forward(&x, Some(&mask)), 1e-2);
        fresh.answer("without a mask", &layer.forward(&x, None), 1e-2);
    }
}

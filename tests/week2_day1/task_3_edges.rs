//! Week 2, day 1, task 3: any eps, and weights of any sign and size, compared with week 1's model.

use ndarray::{Array2, Axis};
use tiny_llm::{
    week1::model::Model as Plain,
    week2::{
        cache::CacheType,
        load::{self, Rope},
        matrix::Matrix,
        rope::RopeLayout,
    },
};
use tiny_llm_formats::{Tensor, config::ModelConfig};
use tiny_llm_harness::{
    check::{assert_agrees, resting_on},
    fixtures::{Case, Json, random},
};

use super::{ATTENTION, CACHE, fixtures, forward_in};

/// Returns the logits `[L, V]` of both weeks' models, with the same configuration and weights.
fn both(
    case: &Case,
    config: &Json,
    change: impl Fn(&str, Tensor) -> Tensor,
    chunks: &[usize],
) -> [Tensor; 2] {
    let config = || {
        ModelConfig::from_json(&config.to_string(), "config.json of the fixture")
            .expect("a configuration")
    };
    // If the fixture has no such bias, it is random.
    let weight = |name: &str, shape: &[usize]| {
        let seed = name.bytes().map(u64::from).sum();
        change(name, case.get(name).unwrap_or_else(|| random(seed, shape)))
    };
    let tokens = case.ids("a");
    let plain = Plain::build(config(), &mut |name, shape| Ok(weight(name, shape)))
        .expect("Model::build must find every weight");
    let row = Array2::from_shape_vec((1, tokens.len()), tokens.clone()).expect("one row");
    let expected = plain.forward(&row).index_axis_move(Axis(0), 0);
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let model = load::build(config(), &rope, usize::MAX, &mut |name, shape| {
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        let values: Vec<f32> = weight(name, shape).iter().copied().collect();
        Ok(Matrix::from_f32(rows, cols, &values))
    })
    .expect("build must find every weight");
    [forward_in(&model, &tokens, chunks, CacheType::F32), expected]
}

#[track_caller]
fn check(what: &str, [found, expected]: &[Tensor; 2]) {
    let largest = expected.iter().fold(1f32, |m, x| m.max(x.abs()));
    let what = format!("logits of eight rows {what}, compared with your model of week 1");
    let property = "both models have the same configuration and weights, so their logits must be \
                    equal";
    assert_agrees(&what, found, expected, 2e-4 * largest, property);
}

#[test]
fn task_3_matches_week_1_with_various_eps() {
    for family in ["llama", "qwen2", "qwen3"] {
        let case = fixtures().case(&format!("task_3_model/{family}"));
        for eps in [1e-12, 1e-3, 0.5, 0.9] {
            let mut config = case.value("config").clone();
            config["rms_norm_eps"] = eps.into();
            for chunks in [&[8][..], &[3, 1, 4]] {
                resting_on(&[CACHE, ATTENTION], || {
                    check(
                        &format!("of {family} with rms_norm_eps {eps:e}, in passes of {chunks:?}"),
                        &both(&case, &config, |_, weight| weight, chunks),
                    );
                });
            }
        }
    }
}

#[test]
fn task_3_matches_week_1_with_scaled_weights() {
    for family in ["llama", "qwen2", "qwen3"] {
        let case = fixtures().case(&format!("task_3_model/{family}"));
        let config = case.value("config").clone();
        for part in [
            "q_proj",
            "k_proj",
            "v_proj",
            "o_proj",
            "q_norm",
            "k_norm",
            "bias",
            "gate_proj",
            "up_proj",
            "down_proj",
            "input_layernorm",
            "post_attention_layernorm",
            "model.norm",
            "embed_tokens",
        ] {
            for factor in [-1.0, 4.0, 0.0] {
                let change = |name: &str, weight: Tensor| {
                    if name.contains(part) { weight * factor } else { weight }
                };
                resting_on(&[CACHE, ATTENTION], || {
                    check(
                        &format!("of {family} with all {part} multiplied by {factor}"),
                        &both(&case, &config, change, &[5, 3]),
                    );
                });
            }
        }
    }
}

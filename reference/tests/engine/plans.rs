//! Checks that the arenas of known models' graphs are as small as the lower bound. The weights are
//! zeros, which are never read.

use tiny_llm_formats::{bytes::Bytes, config::ModelConfig, gguf::TensorType};
use tiny_llm_reference::{
    week2::{
        load::{Rope, build},
        matrix::Matrix,
        model::Model,
        rope::RopeLayout,
    },
    week4::{
        by_size::lifetimes_of_parts,
        engine::Built,
        lifetimes::{lifetimes, lower_bound},
        llama::PassShape,
        planner::MemoryPlan,
    },
};

/// `[E, I, layers, H_q, H_kv, D, V]`
type Sizes = [usize; 7];

const MODELS: [(&str, &str, Sizes); 5] = [
    ("tiny-story", "qwen3", [256, 768, 5, 4, 2, 64, 1536]),
    ("TinyLlama-1.1B", "llama", [2048, 5632, 22, 32, 4, 64, 32000]),
    ("SmolLM2-360M", "llama", [960, 2560, 32, 15, 5, 64, 49152]),
    ("Qwen2-0.5B", "qwen2", [896, 4864, 24, 14, 2, 64, 151_936]),
    ("Qwen3-0.6B", "qwen3", [1024, 3072, 28, 16, 8, 128, 151_936]),
];

/// Returns a model whose matrices share the same zeros.
fn hollow(family: &str, [e, i, layers, heads, kv_heads, d, v]: Sizes) -> Model {
    let json = format!(
        r#"{{"model_type": "{family}", "hidden_size": {e}, "num_hidden_layers": {layers},
        "num_attention_heads": {heads}, "num_key_value_heads": {kv_heads}, "head_dim": {d},
        "intermediate_size": {i}, "vocab_size": {v}, "hidden_act": "silu", "rope_theta": 10000.0,
        "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "tie_word_embeddings": true}}"#
    );
    let config = ModelConfig::from_json(&json, "config.json").unwrap();
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let zeros = Bytes::from(vec![0; v * TensorType::Q8_0.row_bytes(e).unwrap()]);
    let mut matrix = |_: &str, shape: &[usize]| {
        let [rows, cols] = *shape else {
            return Ok(Matrix::from_f32(1, shape[0], &vec![0.0; shape[0]]));
        };
        let bytes = rows * TensorType::Q8_0.row_bytes(cols).unwrap();
        Matrix::new(rows, cols, TensorType::Q8_0, zeros.slice(0..bytes)?)
    };
    build(config, &rope, 64, &mut matrix).unwrap()
}

#[test]
fn plans_of_known_models_reach_the_lower_bound() {
    for (name, family, sizes) in MODELS {
        let model = hollow(family, sizes);
        for [rows, wanted] in [[1, 1], [2, 1], [7, 1], [7, 7], [64, 1], [64, 64], [512, 1]] {
            let shape = PassShape { rows, wanted };
            let Built { graph, order, logits, .. } = Built::new(&model, shape).unwrap();
            let lives = lifetimes(&graph, &order, &[logits]);
            let parts = lifetimes_of_parts(&graph, &lives);
            let bounds = [lower_bound(&lives), lower_bound(&parts)];
            let peaks = [false, true].map(|in_place| {
                MemoryPlan::smaller(&graph, &order, &[logits], in_place).unwrap().peak
            });
            assert_eq!(
                peaks, bounds,
                "{name}, {rows} rows, logits for {wanted}: peaks without and with in-place nodes"
            );
        }
    }
}

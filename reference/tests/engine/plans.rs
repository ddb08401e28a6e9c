//! Checks that the arenas of known models' graphs are as small as the lower bound. The weights are
//! zeros, which are never read.

use tiny_llm_formats::{bytes::Bytes, gguf::TensorType};
use tiny_llm_reference::{
    week2::{matrix::Matrix, model::Model},
    week4::{
        by_size::lifetimes_of_parts,
        engine::Built,
        lifetimes::{lifetimes, lower_bound},
        llama::PassShape,
        planner::MemoryPlan,
    },
};

use crate::llama::{Sizes, llama};

const MODELS: [(&str, &str, Sizes); 5] = [
    ("tiny-story", "qwen3", [256, 768, 5, 4, 2, 64, 1536]),
    ("TinyLlama-1.1B", "llama", [2048, 5632, 22, 32, 4, 64, 32000]),
    ("SmolLM2-360M", "llama", [960, 2560, 32, 15, 5, 64, 49152]),
    ("Qwen2-0.5B", "qwen2", [896, 4864, 24, 14, 2, 64, 151_936]),
    ("Qwen3-0.6B", "qwen3", [1024, 3072, 28, 16, 8, 128, 151_936]),
];

/// Returns a model whose matrices share the same zeros.
fn hollow(family: &str, sizes: Sizes) -> Model {
    let [e, .., v] = sizes;
    let zeros = Bytes::from(vec![0; v * TensorType::Q8_0.row_bytes(e).unwrap()]);
    llama(family, sizes, |rows, cols| {
        let bytes = rows * TensorType::Q8_0.row_bytes(cols).unwrap();
        Matrix::new(rows, cols, TensorType::Q8_0, zeros.slice(0..bytes).unwrap()).unwrap()
    })
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

//! Small models with any weights.

use tiny_llm_formats::config::ModelConfig;
use tiny_llm_reference::week2::{
    load::{Rope, build},
    matrix::Matrix,
    model::Model,
    rope::RopeLayout,
};

/// `[E, I, layers, H_q, H_kv, D, V]`
pub(crate) type Sizes = [usize; 7];

/// Builds a model with tied embeddings, for 256 positions. `matrix(rows, cols)` returns each
/// matrix. The weights of norms are near 1.
pub(crate) fn llama(
    family: &str,
    [e, i, layers, heads, kv_heads, d, v]: Sizes,
    mut matrix: impl FnMut(usize, usize) -> Matrix,
) -> Model {
    let json = format!(
        r#"{{"model_type": "{family}", "hidden_size": {e}, "num_hidden_layers": {layers},
        "num_attention_heads": {heads}, "num_key_value_heads": {kv_heads}, "head_dim": {d},
        "intermediate_size": {i}, "vocab_size": {v}, "hidden_act": "silu", "rope_theta": 10000.0,
        "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "tie_word_embeddings": true}}"#
    );
    let config = ModelConfig::from_json(&json, "config.json").expect("a configuration");
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    build(config, &rope, 256, &mut |_, shape| {
        let [rows, cols] = *shape else {
            let numbers: Vec<f32> = (0..shape[0]).map(|i| 0.8 + 0.1 * (i % 5) as f32).collect();
            return Ok(Matrix::from_f32(1, shape[0], &numbers));
        };
        Ok(matrix(rows, cols))
    })
    .expect("a model")
}

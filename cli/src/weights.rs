//! What a model weighs, from its configuration alone.

use tiny_llm_formats::config::ModelConfig;

/// How many numbers these tensors hold.
pub(super) fn parameters(c: &ModelConfig) -> usize {
    c.tensors().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum()
}

/// Multiplications and additions with weights that a token needs: two for each number of a matrix,
/// but for an embedding that only looks up.
pub(super) fn operations(c: &ModelConfig) -> u64 {
    let multiplies = |(name, shape): &&(String, Vec<usize>)| {
        shape.len() == 2 && (c.tie_word_embeddings || !name.contains("embed_tokens"))
    };
    let all = c.tensors();
    let products = all.iter().filter(multiplies);
    products.map(|(_, shape)| 2 * shape.iter().product::<usize>() as u64).sum()
}

//! The size of a model, computed from its configuration.

use tiny_llm_formats::config::ModelConfig;

/// Returns the number of parameters.
pub(super) fn parameters(c: &ModelConfig) -> usize {
    c.tensors().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum()
}

/// Returns the number of operations (multiplications and additions) with weights per token: two for
/// each matrix element. An embedding that is used only for lookup doesn't count.
pub(super) fn operations(c: &ModelConfig) -> u64 {
    let multiplies = |(name, shape): &&(String, Vec<usize>)| {
        shape.len() == 2 && (c.tie_word_embeddings || !name.contains("embed_tokens"))
    };
    let all = c.tensors();
    let products = all.iter().filter(multiplies);
    products.map(|(_, shape)| 2 * shape.iter().product::<usize>() as u64).sum()
}

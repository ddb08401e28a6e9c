//! The tensors of a model, from its configuration alone.

use super::files::Entry;
use tiny_llm_formats::config::ModelConfig;

/// Name and shape of every tensor that a Hugging Face checkpoint of this configuration has.
pub(super) fn tensors(c: &ModelConfig) -> Vec<Entry> {
    let (e, q, kv, i) =
        (c.hidden_size, c.n_heads * c.head_dim, c.n_kv_heads * c.head_dim, c.intermediate_size);
    let mut all = vec![entry("model.embed_tokens.weight".to_owned(), &[c.vocab_size, e])];
    for layer in 0..c.n_layers {
        let mut add = |name: &str, shape: &[usize]| {
            all.push(entry(format!("model.layers.{layer}.{name}"), shape));
        };
        add("input_layernorm.weight", &[e]);
        for (name, out, width, bias) in [
            ("q_proj", q, e, c.qkv_bias),
            ("k_proj", kv, e, c.qkv_bias),
            ("v_proj", kv, e, c.qkv_bias),
            ("o_proj", e, q, c.o_bias),
        ] {
            add(&format!("self_attn.{name}.weight"), &[out, width]);
            if bias {
                add(&format!("self_attn.{name}.bias"), &[out]);
            }
        }
        if c.qk_norm {
            add("self_attn.q_norm.weight", &[c.head_dim]);
            add("self_attn.k_norm.weight", &[c.head_dim]);
        }
        add("post_attention_layernorm.weight", &[e]);
        add("mlp.gate_proj.weight", &[i, e]);
        add("mlp.up_proj.weight", &[i, e]);
        add("mlp.down_proj.weight", &[e, i]);
    }
    all.push(entry("model.norm.weight".to_owned(), &[e]));
    if !c.tie_word_embeddings {
        all.push(entry("lm_head.weight".to_owned(), &[c.vocab_size, e]));
    }
    all
}

/// How many numbers these tensors hold.
pub(super) fn parameters(c: &ModelConfig) -> usize {
    tensors(c).iter().map(|entry| entry.shape.iter().product::<usize>()).sum()
}

/// Multiplications and additions with weights that a token needs: two for each number of a matrix,
/// but for an embedding that only looks up.
pub(super) fn operations(c: &ModelConfig) -> u64 {
    let multiplies = |entry: &&Entry| {
        entry.shape.len() == 2 && (c.tie_word_embeddings || !entry.name.contains("embed_tokens"))
    };
    tensors(c)
        .iter()
        .filter(multiplies)
        .map(|entry| 2 * entry.shape.iter().product::<usize>() as u64)
        .sum()
}

fn entry(name: String, shape: &[usize]) -> Entry {
    Entry { name, shape: shape.to_vec() }
}

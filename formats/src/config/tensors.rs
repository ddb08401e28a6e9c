//! Lists a model's tensors from its configuration alone.

use super::ModelConfig;

impl ModelConfig {
    /// Returns the name and shape of every tensor of a Hugging Face checkpoint with this
    /// configuration.
    #[must_use]
    pub fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let (e, i) = (self.hidden_size, self.intermediate_size);
        let (q, kv) = (self.n_heads * self.head_dim, self.n_kv_heads * self.head_dim);
        let mut all = vec![("model.embed_tokens.weight".to_owned(), vec![self.vocab_size, e])];
        for layer in 0..self.n_layers {
            let mut add = |name: &str, shape: &[usize]| {
                all.push((format!("model.layers.{layer}.{name}"), shape.to_vec()));
            };
            add("input_layernorm.weight", &[e]);
            for (name, out, width, bias) in [
                ("q_proj", q, e, self.qkv_bias),
                ("k_proj", kv, e, self.qkv_bias),
                ("v_proj", kv, e, self.qkv_bias),
                ("o_proj", e, q, self.o_bias),
            ] {
                add(&format!("self_attn.{name}.weight"), &[out, width]);
                if bias {
                    add(&format!("self_attn.{name}.bias"), &[out]);
                }
            }
            if self.qk_norm {
                add("self_attn.q_norm.weight", &[self.head_dim]);
                add("self_attn.k_norm.weight", &[self.head_dim]);
            }
            add("post_attention_layernorm.weight", &[e]);
            add("mlp.gate_proj.weight", &[i, e]);
            add("mlp.up_proj.weight", &[i, e]);
            add("mlp.down_proj.weight", &[e, i]);
        }
        all.push(("model.norm.weight".to_owned(), vec![e]));
        if !self.tie_word_embeddings {
            all.push(("lm_head.weight".to_owned(), vec![self.vocab_size, e]));
        }
        all
    }
}

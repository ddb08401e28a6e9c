//! id: attn-scale-wrong
//! function: MultiHeadAttention::forward
//! says: Scale is 1/√head_dim: per head, not hidden, not length.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        
        let scale = 1.0 / (query.shape()[2] as f32).sqrt();
        linear(&merge_heads(&scaled_dot_product_attention(&q, &k, &v, Some(scale), mask)), &self.o_proj, None)

//! id: head-dim-derived
//! function: MultiHeadAttention::forward
//! says: head_dim is its own field.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        
        let scale = 1.0 / ((query.shape()[2] / self.n_heads) as f32).sqrt();
        linear(&merge_heads(&scaled_dot_product_attention(&q, &k, &v, Some(scale), mask)), &self.o_proj, None)

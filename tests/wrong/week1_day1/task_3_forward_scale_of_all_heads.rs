//! id: attn-scale-wrong
//! function: MultiHeadAttention::forward
//! says: Your scale is one over the root of the whole width, E or that of all heads: the scale belongs to one head, 1/√D.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        let scale = 1.0 / (self.q_proj.shape()[0] as f32).sqrt();
        let out = scaled_dot_product_attention(&q, &k, &v, Some(scale), mask);
        linear(&merge_heads(&out), &self.o_proj, None)

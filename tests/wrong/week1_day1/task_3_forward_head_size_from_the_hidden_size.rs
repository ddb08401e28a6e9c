//! id: head-dim-derived
//! function: MultiHeadAttention::forward
//! says: Your scale takes E/H for the head size: D follows from the weights, H·D / H, and H·D need not be E.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        let scale = 1.0 / ((query.shape()[2] / self.n_heads) as f32).sqrt();
        let out = scaled_dot_product_attention(&q, &k, &v, Some(scale), mask);
        linear(&merge_heads(&out), &self.o_proj, None)

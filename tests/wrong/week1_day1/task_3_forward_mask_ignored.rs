//! id: mask-ignored
//! function: MultiHeadAttention::forward
//! says: The mask has no effect here: hand it on to the attention.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        let out = scaled_dot_product_attention(&q, &k, &v, None, None);
        linear(&merge_heads(&out), &self.o_proj, None)

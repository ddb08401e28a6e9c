//! id: mha-inputs-mixed
//! function: MultiHeadAttention::forward
//! says: The values are made from `key`: they have an input of their own, `value`.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(key, &self.v_proj, None), self.n_heads);
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        linear(&merge_heads(&out), &self.o_proj, None)

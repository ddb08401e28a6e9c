//! id: mha-self-only
//! function: MultiHeadAttention::forward
//! says: Keys and values are made from `query`: they have inputs of their own, `key` and `value`.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(query, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(query, &self.v_proj, None), self.n_heads);
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        linear(&merge_heads(&out), &self.o_proj, None)

//! id: mha-projections-mixed
//! function: MultiHeadAttention::forward
//! says: The keys go through q_proj: they have a projection of their own, k_proj.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.q_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        linear(&merge_heads(&out), &self.o_proj, None)

//! id: o-proj-missing
//! function: MultiHeadAttention::forward
//! says: The merged heads are returned as they are: they must still go through o_proj.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        merge_heads(&out)

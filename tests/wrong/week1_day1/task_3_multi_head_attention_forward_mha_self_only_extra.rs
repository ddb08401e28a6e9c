//! id: mha-self-only
//! function: MultiHeadAttention::forward
//! says: key and value are inputs of their own.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(query, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(query, &self.v_proj, None), self.n_heads);
        linear(&merge_heads(&scaled_dot_product_attention(&q, &k, &v, None, mask.filter(|m| m.shape()[m.ndim() - 1] == query.shape()[1]))), &self.o_proj, None)

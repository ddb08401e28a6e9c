//! id: linear-not-transposed
//! function: MultiHeadAttention::forward
//! says: Weights are [out, in]: row o dot x gives output o.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        
        let out = merge_heads(&scaled_dot_product_attention(&q, &k, &v, None, mask));
        if self.o_proj.shape()[0] == self.o_proj.shape()[1] { matmul(&out, &self.o_proj) } else { linear(&out, &self.o_proj, None) }

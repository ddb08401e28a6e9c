//! id: linear-not-transposed
//! function: MultiHeadAttention::forward
//! says: o_proj is not transposed: like every weight it is [out, in], and `linear` does the rest.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        matmul(&merge_heads(&out), &self.o_proj)

//! id: mask-multiplied
//! function: MultiHeadAttention::forward
//! says: Hand the mask through.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        
        let _ = mask;
        linear(&merge_heads(&scaled_dot_product_attention(&q, &k, &v, None, None)), &self.o_proj, None)

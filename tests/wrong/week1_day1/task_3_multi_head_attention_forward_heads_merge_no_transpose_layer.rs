//! id: heads-merge-no-transpose
//! function: MultiHeadAttention::forward
//! says: Swap heads back behind L before flattening.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        let (b, l) = (query.shape()[0], query.shape()[1]);
        linear(&reshape(&out, &[b, l, self.q_proj.shape()[0]]), &self.o_proj, None)

//! id: head-chunk-by-count
//! function: MultiHeadAttention::forward
//! says: You cut the H·D numbers into D heads of size H: it must be H heads of size D.
        let count = self.q_proj.shape()[0] / self.n_heads;
        let q = split_heads(&linear(query, &self.q_proj, None), count);
        let k = split_heads(&linear(key, &self.k_proj, None), count);
        let v = split_heads(&linear(value, &self.v_proj, None), count);
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        linear(&merge_heads(&out), &self.o_proj, None)

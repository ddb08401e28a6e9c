//! id: head-chunk-by-count
//! function: MultiHeadAttention::forward
//! says: Chunk by head size.
        let count = self.q_proj.shape()[0] / self.n_heads;
        let q = split_heads(&linear(query, &self.q_proj, None), count);
        let k = split_heads(&linear(key, &self.k_proj, None), count);
        let v = split_heads(&linear(value, &self.v_proj, None), count);
        linear(&merge_heads(&scaled_dot_product_attention(&q, &k, &v, None, mask)), &self.o_proj, None)

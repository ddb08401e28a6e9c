//! id: heads-view-no-transpose
//! function: MultiHeadAttention::forward
//! says: Your heads are split and merged by reshapes alone, which move nothing: H and L must be swapped both times.
        let (b, l, s) = (query.shape()[0], query.shape()[1], key.shape()[1]);
        let (h, d) = (self.n_heads, self.q_proj.shape()[0] / self.n_heads);
        let q = reshape(&linear(query, &self.q_proj, None), &[b, h, l, d]);
        let k = reshape(&linear(key, &self.k_proj, None), &[b, h, s, d]);
        let v = reshape(&linear(value, &self.v_proj, None), &[b, h, s, d]);
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        linear(&reshape(&out, &[b, l, h * d]), &self.o_proj, None)

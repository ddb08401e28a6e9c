//! id: heads-view-no-transpose
//! function: MultiHeadAttention::forward
//! says: Reshape to [B,L,H,D], then swap: a reshape moves nothing.
        let split = |x: Tensor| { let s = x.shape().to_vec(); reshape(&x, &[s[0], self.n_heads, s[1], s[2] / self.n_heads]) };
        let q = split(linear(query, &self.q_proj, None));
        let k = split(linear(key, &self.k_proj, None));
        let v = split(linear(value, &self.v_proj, None));
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        let (b, l) = (query.shape()[0], query.shape()[1]);
        linear(&reshape(&out, &[b, l, self.q_proj.shape()[0]]), &self.o_proj, None)

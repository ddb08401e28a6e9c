//! id: heads-view-no-transpose
//! function: GroupedQueryAttention::forward
//! says: Your heads mix numbers of several positions: reshape to [B, L, H, D], then swap L and H, since a reshape moves nothing.
        let split = |y: &Tensor, n: usize| reshape(y, &[y.shape()[0], n, y.shape()[1], y.shape()[2] / n]);
        let q = split(&self.q_proj.forward(x), self.n_heads);
        let k = split(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

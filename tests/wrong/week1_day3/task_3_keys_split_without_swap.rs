//! id: heads-view-no-transpose
//! function: GroupedQueryAttention::forward
//! says: Your keys are reshaped to [B, H, L, D] at once: split them as queries and values, to [B, L, H, D] and then with a swap.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = reshape(&self.k_proj.forward(x), &[x.shape()[0], self.n_kv_heads, x.shape()[1], q.shape()[3]]);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

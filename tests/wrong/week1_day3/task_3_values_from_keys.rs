//! id: mha-inputs-mixed
//! function: GroupedQueryAttention::forward
//! says: Your values are those of k_proj: they have a projection of their own, v_proj.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

//! id: qkv-bias-dropped
//! function: GroupedQueryAttention::forward
//! says: The bias of q is missing from your answer: Linear::forward adds it where there is one.
        let q = split_heads(&linear(x, &self.q_proj.weight, None), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

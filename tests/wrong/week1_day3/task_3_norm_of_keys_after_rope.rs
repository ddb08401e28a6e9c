//! id: qknorm-after-rope
//! function: GroupedQueryAttention::forward
//! says: Your keys are normed after RoPE: the norm comes first, for keys as for queries, since with uneven weights the two do not commute.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

//! id: head-dim-derived
//! function: GroupedQueryAttention::forward
//! says: Your scores are not scaled, or by a head size of E / H_q, which is 1 here: the scale is 1/√D, and D is what the projections give each head.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let scale = 1.0 / ((x.shape()[2] / self.n_heads) as f32).sqrt();
        let out = grouped_query_attention(&q, &k, &v, Some(scale), mask);
        self.o_proj.forward(&merge_heads(&out))

//! id: gqa-tile-not-repeat
//! function: GroupedQueryAttention::forward
//! says: What query head h gives comes from key/value head h mod H in your answer; neighbours share a head: it is h / G.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let heads: Vec<usize> = (0..self.n_heads).map(|i| i % self.n_kv_heads).collect();
        let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

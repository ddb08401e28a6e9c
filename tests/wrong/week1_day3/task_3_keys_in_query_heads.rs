//! id: gqa-mha-heads
//! function: GroupedQueryAttention::forward
//! says: You split keys or values into H_q heads; they have H heads.
//! shows: in which q is [2, 6, 5, 8] after the split, and k and v are [2, 2, 5, 8]
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

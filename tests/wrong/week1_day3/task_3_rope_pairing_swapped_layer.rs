//! id: rope-pairing-swapped
//! function: GroupedQueryAttention::forward
//! says: You matched the other layout.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = crate::week1::rope::rope_interleaved(&q, &self.rope, 0);
        let k = crate::week1::rope::rope_interleaved(&k, &self.rope, 0);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

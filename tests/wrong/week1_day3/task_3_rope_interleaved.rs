//! id: rope-pairing-swapped
//! function: GroupedQueryAttention::forward
//! says: Your layer rotates neighbours, 2i with 2i + 1: the layer uses the half-split form, which turns i with i + D/2.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = super::rope::rope_interleaved(&q, &self.rope, 0);
        let k = super::rope::rope_interleaved(&k, &self.rope, 0);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

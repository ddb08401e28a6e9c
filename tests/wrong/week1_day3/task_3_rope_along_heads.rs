//! id: rope-table-offset
//! function: GroupedQueryAttention::forward
//! says: Your rotation takes the number of the head for the position: RoPE wants [B, heads, L, D], with L before D.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let along_heads = |y: &Tensor| {
            let turned = rope_half_split(&tiny_llm_formats::tensor::swap_axes(y, 1, 2), &self.rope, 0);
            tiny_llm_formats::tensor::swap_axes(&turned, 1, 2)
        };
        let q = along_heads(&q);
        let k = along_heads(&k);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

//! id: rope-table-offset
//! function: GroupedQueryAttention::forward
//! says: RoPE wants [.., L, D]: split the heads first.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let turn = |y: &Tensor| tiny_llm_kit::tensor::swap_axes(&rope_half_split(&tiny_llm_kit::tensor::swap_axes(y, 1, 2), &self.rope, 0), 1, 2);
        let q = turn(&q);
        let k = turn(&k);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

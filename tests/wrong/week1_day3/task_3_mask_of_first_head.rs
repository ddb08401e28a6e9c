//! id: mask-buffer-one-head
//! function: GroupedQueryAttention::forward
//! says: All query heads get the mask of head 0: a mask may differ from head to head.
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let mask = mask.map(|mask| if mask.ndim() == 4 { mask.select(ndarray::Axis(1), &[0]) } else { mask.clone() });
        let out = grouped_query_attention(&q, &k, &v, None, mask.as_ref());
        self.o_proj.forward(&merge_heads(&out))

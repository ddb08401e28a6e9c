//! function: GroupedQueryAttention::forward
//! how: key/value heads copied for each query head, then the attention of day 1
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let group = self.n_heads / self.n_kv_heads;
        let heads: Vec<usize> = (0..self.n_heads).map(|i| i / group).collect();
        let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

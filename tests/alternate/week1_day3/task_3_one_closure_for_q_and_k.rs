//! function: GroupedQueryAttention::forward
//! how: queries and keys go through the same closure, keys first
        let prepared = |projection: &Linear, heads: usize, norm: &Option<HeadNorm>| {
            let mut y = split_heads(&projection.forward(x), heads);
            if let Some(norm) = norm {
                y = norm(&y);
            }
            rope_half_split(&y, &self.rope, 0)
        };
        let k = prepared(&self.k_proj, self.n_kv_heads, &self.k_norm);
        let q = prepared(&self.q_proj, self.n_heads, &self.q_norm);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

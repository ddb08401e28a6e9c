//! function: GroupedQueryAttention::forward
//! how: see the name
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let positions = ndarray::Array2::from_shape_fn((x.shape()[0], x.shape()[1]), |(_, l)| l);
        let q = crate::week1::rope::rope_at_positions(&q, &self.rope, &positions, crate::week1::rope::RopeForm::HalfSplit);
        let k = crate::week1::rope::rope_at_positions(&k, &self.rope, &positions, crate::week1::rope::RopeForm::HalfSplit);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

//! function: GroupedQueryAttention::forward
//! how: RoPE by a list of positions in place of an offset
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let positions = ndarray::Array2::from_shape_fn((x.shape()[0], x.shape()[1]), |(_, position)| position);
        let turn = |y: &Tensor| super::rope::rope_at_positions(y, &self.rope, &positions, super::rope::RopeForm::HalfSplit);
        let q = turn(&q);
        let k = turn(&k);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

//! id: qkv-equal-thirds
//! function: GroupedQueryAttention::forward
//! says: Parts are H_q·D, H·D, H·D.
        let fused = ndarray::concatenate(ndarray::Axis(2), &[self.q_proj.forward(x).view(), self.k_proj.forward(x).view(), self.v_proj.forward(x).view()]).unwrap();
        let third = fused.shape()[2] / 3;
        let part = |i: usize| fused.slice_axis(ndarray::Axis(2), (i * third..(i + 1) * third).into()).to_owned();
        let d = self.q_proj.weight.shape()[0] / self.n_heads;
        let (q, k, v) = (split_heads(&part(0), third / d), split_heads(&part(1), third / d), split_heads(&part(2), third / d));
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        self.o_proj.forward(&merge_heads(&out))

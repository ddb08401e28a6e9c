//! id: mask-buffer-one-batch
//! function: MultiHeadAttention::forward
//! says: Index the mask by batch.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        
        let mask = mask.map(|m| if m.ndim() == 4 { m.select(Axis(0), &[0]) } else { m.clone() });
        linear(&merge_heads(&scaled_dot_product_attention(&q, &k, &v, None, mask.as_ref())), &self.o_proj, None)

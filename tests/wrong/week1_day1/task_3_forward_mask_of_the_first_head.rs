//! id: gqa-mask-not-broadcast
//! function: MultiHeadAttention::forward
//! says: All heads get the mask of head 0: a mask [B, H, L, S] holds one for each.
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        let mask = mask.map(|mask| if mask.ndim() == 4 { mask.select(Axis(1), &[0]) } else { mask.clone() });
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask.as_ref());
        linear(&merge_heads(&out), &self.o_proj, None)

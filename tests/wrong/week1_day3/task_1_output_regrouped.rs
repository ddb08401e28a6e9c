//! id: gqa-tile-not-repeat
//! function: grouped_query_attention
//! says: Each head of your output is computed rightly but stands in another head's place: [B, H, G, L, D] becomes [B, H_q, L, D] by a reshape alone.
    let [b, h_q, l, d] = *q.shape() else { panic!("q must be [B, H_q, L, D], got {:?}", q.shape()) };
    let [_, h, s, _] = *k.shape() else { panic!("k must be [B, H, S, D], got {:?}", k.shape()) };
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let q = reshape(q, &[b, h, group, l, d]);
    let k = reshape(k, &[b, h, 1, s, d]);
    let v = reshape(v, &[b, h, 1, s, d]);
    let mask = mask.map(|mask| {
        let full = mask.broadcast(IxDyn(&[b, h_q, l, s])).expect("the mask broadcasts").to_owned();
        reshape(&full, &[b, h, group, l, s])
    });
    let out = scaled_dot_product_attention(&q, &k, &v, scale, mask.as_ref());
    reshape(&tiny_llm_formats::tensor::swap_axes(&out, 1, 2), &[b, h_q, l, d])

//! id: gqa-mask-not-broadcast
//! function: grouped_query_attention
//! says: The heads of your mask are grouped otherwise than the queries: neighbours form a group there too, [B, H, G, L, S].
    let [b, h_q, l, d] = *q.shape() else { panic!("q must be [B, H_q, L, D], got {:?}", q.shape()) };
    let [_, h, s, _] = *k.shape() else { panic!("k must be [B, H, S, D], got {:?}", k.shape()) };
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let q = reshape(q, &[b, h, group, l, d]);
    let k = reshape(k, &[b, h, 1, s, d]);
    let v = reshape(v, &[b, h, 1, s, d]);
    let mask = mask.map(|mask| {
        let full = mask.broadcast(IxDyn(&[b, h_q, l, s])).expect("the mask broadcasts").to_owned();
        tiny_llm_formats::tensor::swap_axes(&reshape(&full, &[b, group, h, l, s]), 1, 2)
    });
    reshape(&scaled_dot_product_attention(&q, &k, &v, scale, mask.as_ref()), &[b, h_q, l, d])

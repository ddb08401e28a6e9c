//! function: grouped_query_attention
//! how: the queries of a group one below the other, so that L becomes G·L and no axis is added
    let [b, h_q, l, d] = *q.shape() else { panic!("q must be [B, H_q, L, D], got {:?}", q.shape()) };
    let [_, h, s, _] = *k.shape() else { panic!("k must be [B, H, S, D], got {:?}", k.shape()) };
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let q = reshape(q, &[b, h, group * l, d]);
    let mask = mask.map(|mask| {
        let full = mask.broadcast(IxDyn(&[b, h_q, l, s])).expect("the mask broadcasts").to_owned();
        reshape(&full, &[b, h, group * l, s])
    });
    reshape(&scaled_dot_product_attention(&q, k, v, scale, mask.as_ref()), &[b, h_q, l, d])

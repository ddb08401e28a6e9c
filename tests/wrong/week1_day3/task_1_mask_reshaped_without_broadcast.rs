//! id: gqa-mask-not-broadcast
//! function: grouped_query_attention
//! says: You reshape a mask that has too few numbers: broadcast it to [B, H_q, L, S] first, then group its heads.
//! shows: which broadcasts to [2, 6, 3, 5]: this must be accepted
    let [b, h_q, l, d] = *q.shape() else { panic!("q must be [B, H_q, L, D], got {:?}", q.shape()) };
    let [_, h, s, _] = *k.shape() else { panic!("k must be [B, H, S, D], got {:?}", k.shape()) };
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let q = reshape(q, &[b, h, group, l, d]);
    let k = reshape(k, &[b, h, 1, s, d]);
    let v = reshape(v, &[b, h, 1, s, d]);
    let mask = mask.map(|mask| reshape(mask, &[b, h, group, l, s]));
    reshape(&scaled_dot_product_attention(&q, &k, &v, scale, mask.as_ref()), &[b, h_q, l, d])

//! id: gqa-tile-not-repeat
//! function: grouped_query_attention
//! says: What query head h gives comes from key/value head h mod H in your answer; neighbours share a head: it is h / G.
    let [b, h_q, l, d] = *q.shape() else { panic!("q must be [B, H_q, L, D], got {:?}", q.shape()) };
    let [_, h, s, _] = *k.shape() else { panic!("k must be [B, H, S, D], got {:?}", k.shape()) };
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let q = reshape(q, &[b, group, h, l, d]);
    let k = reshape(k, &[b, 1, h, s, d]);
    let v = reshape(v, &[b, 1, h, s, d]);
    let mask = mask.map(|mask| {
        let full = mask.broadcast(IxDyn(&[b, h_q, l, s])).expect("the mask broadcasts").to_owned();
        reshape(&full, &[b, group, h, l, s])
    });
    reshape(&scaled_dot_product_attention(&q, &k, &v, scale, mask.as_ref()), &[b, h_q, l, d])

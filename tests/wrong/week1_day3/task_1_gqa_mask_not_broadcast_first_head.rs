//! id: gqa-mask-not-broadcast
//! function: grouped_query_attention
//! says: Broadcast to [B,H_q,L,S], then reshape.
    let [b, h_q, l, d] = *q.shape() else { panic!() };
    let [_, h, s, _] = *k.shape() else { panic!() };
    assert!(h_q % h == 0);
    let group = h_q / h;
    let q = reshape(q, &[b, h, group, l, d]);
    let k = reshape(k, &[b, h, 1, s, d]);
    let v = reshape(v, &[b, h, 1, s, d]);
    let mask = mask.map(|mask| { let m = mask.broadcast(IxDyn(&[b, h_q, l, s])).unwrap().to_owned(); reshape(&m.select(ndarray::Axis(1), &vec![0; h_q]), &[b, h, group, l, s]) });
    reshape(&scaled_dot_product_attention(&q, &k, &v, scale, mask.as_ref()), &[b, h_q, l, d])

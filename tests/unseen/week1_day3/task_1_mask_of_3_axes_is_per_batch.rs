//! id: unseen
//! function: grouped_query_attention
//! says: [X, L, S] masks are per sequence
    let [b, h_q, l, d] = *q.shape() else {
        panic!("q must be [B, H_q, L, D], got {:?}", q.shape())
    };
    let [_, h, s, _] = *k.shape() else { panic!("k must be [B, H, S, D], got {:?}", k.shape()) };
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;

    // 1. Neighbouring query heads form a group: (B, H_q, L, D) -> (B, H, G, L, D)
    let q = reshape(q, &[b, h, group, l, d]);
    // 2. One key/value head for the whole group: (B, H, S, D) -> (B, H, 1, S, D)
    let k = reshape(k, &[b, h, 1, s, d]);
    let v = reshape(v, &[b, h, 1, s, d]);
    // 3. A mask may name single heads, so it is broadcast before its heads are grouped too.
    let mask3;
    let mask = match mask {
        Some(m) if m.ndim() == 3 => { mask3 = m.clone().insert_axis(ndarray::Axis(1)); Some(&mask3) }
        m => m,
    };
    let mask = mask.map(|mask| {
        let full = mask.broadcast(IxDyn(&[b, h_q, l, s])).unwrap_or_else(|| {
            panic!("mask {:?} does not broadcast to {:?}", mask.shape(), [b, h_q, l, s])
        });
        reshape(&full.to_owned(), &[b, h, group, l, s])
    });
    // 4. The 1 broadcasts over G; back to (B, H_q, L, D)
    reshape(&scaled_dot_product_attention(&q, &k, &v, scale, mask.as_ref()), &[b, h_q, l, d])

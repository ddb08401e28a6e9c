//! id: gqa-mask-not-broadcast
//! function: grouped_query_attention
//! says: All query heads get the mask of head 0: a mask may differ from head to head.
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let heads: Vec<usize> = (0..h_q).map(|i| i / group).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    let mask = mask.map(|mask| {
        if mask.ndim() == 4 { mask.select(ndarray::Axis(1), &[0]) } else { mask.clone() }
    });
    scaled_dot_product_attention(q, &k, &v, scale, mask.as_ref())

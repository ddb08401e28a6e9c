//! id: mask-multiplied
//! function: grouped_query_attention
//! says: Of your mask only the −inf counts: the mask is added to the scores, so its finite numbers count as well.
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let heads: Vec<usize> = (0..h_q).map(|i| i / group).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    let mask = mask.map(|mask| mask.mapv(|m| if m == f32::NEG_INFINITY { m } else { 0.0 }));
    scaled_dot_product_attention(q, &k, &v, scale, mask.as_ref())

//! id: attn-scale-wrong
//! function: grouped_query_attention
//! says: The scale that is handed in does not reach your scores: they are scaled by 1/√D all the same.
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let heads: Vec<usize> = (0..h_q).map(|i| i / group).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    scaled_dot_product_attention(q, &k, &v, None, mask)

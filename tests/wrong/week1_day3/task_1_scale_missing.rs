//! id: attn-scale-wrong
//! function: grouped_query_attention
//! says: Without a given scale your scores are not scaled at all; the default is 1/√D.
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let heads: Vec<usize> = (0..h_q).map(|i| i / group).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    scaled_dot_product_attention(q, &k, &v, scale.or(Some(1.0)), mask)

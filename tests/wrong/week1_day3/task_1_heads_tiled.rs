//! id: gqa-tile-not-repeat
//! function: grouped_query_attention
//! says: What query head h gives comes from key/value head h mod H in your answer; neighbours share a head: it is h / G.
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let heads: Vec<usize> = (0..h_q).map(|i| i % h).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    scaled_dot_product_attention(q, &k, &v, scale, mask)

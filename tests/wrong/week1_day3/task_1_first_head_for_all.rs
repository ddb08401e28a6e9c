//! id: gqa-tile-not-repeat
//! function: grouped_query_attention
//! says: All query heads read key/value head 0: query head h reads key/value head h / G.
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let heads = vec![0; h_q];
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    scaled_dot_product_attention(q, &k, &v, scale, mask)

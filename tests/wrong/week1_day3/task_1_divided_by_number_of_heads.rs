//! id: gqa-divide-by-n_kv
//! function: grouped_query_attention
//! says: Your query heads read the key/value heads that h / H would give; divide by the size of a group, G = H_q / H.
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let heads: Vec<usize> = (0..h_q).map(|i| i / h).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    scaled_dot_product_attention(q, &k, &v, scale, mask)

//! id: mask-multiplied
//! function: grouped_query_attention
//! says: A mask without −inf has no effect: a mask is added to the scores, whatever numbers it holds.
//! shows: this mask holds no −inf: it is added to the scores all the same
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let heads: Vec<usize> = (0..h_q).map(|i| i / group).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    let mask = mask.filter(|mask| mask.iter().any(|&m| m == f32::NEG_INFINITY));
    scaled_dot_product_attention(q, &k, &v, scale, mask)

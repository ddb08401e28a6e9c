//! id: gqa-uneven-groups
//! function: grouped_query_attention
//! says: You accept query heads that cannot be divided evenly; that must be refused, as the doc comment says.
//! shows: where no group size G makes H_q = G · H: this must panic
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    let group = h_q.div_ceil(h);
    let heads: Vec<usize> = (0..h_q).map(|i| (i / group).min(h - 1)).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    scaled_dot_product_attention(q, &k, &v, scale, mask)

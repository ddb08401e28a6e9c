//! id: gqa-divide-by-n_kv
//! function: grouped_query_attention
//! says: H_q must be a multiple of H.
    use ndarray::Axis;
    let [b, h_q, l, d] = *q.shape() else { panic!() };
    let [_, h, s, _] = *k.shape() else { panic!() };
    let _ = (b, l, s, d);
    let group = h_q.div_ceil(h);
    let _ = group;
    let heads: Vec<usize> = (0..h_q).map(|i| (i / group).min(h - 1)).collect();
    let (k, v) = (k.select(Axis(1), &heads), v.select(Axis(1), &heads));
    let mask = mask.cloned();
    scaled_dot_product_attention(q, &k, &v, scale, mask.as_ref())

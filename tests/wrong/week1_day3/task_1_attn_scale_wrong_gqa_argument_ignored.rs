//! id: attn-scale-wrong
//! function: grouped_query_attention
//! says: Scale is 1/√head_dim: per head, not hidden, not length.
    use ndarray::Axis;
    let [b, h_q, l, d] = *q.shape() else { panic!() };
    let [_, h, s, _] = *k.shape() else { panic!() };
    let _ = (b, l, s, d);
    assert!(h_q % h == 0);
    let group = h_q / h;
    let _ = group;
    let heads: Vec<usize> = (0..h_q).map(|i| i / group).collect();
    let (k, v) = (k.select(Axis(1), &heads), v.select(Axis(1), &heads));
    let mask = mask.cloned();
    scaled_dot_product_attention(q, &k, &v, { let _ = scale; None }, mask.as_ref())

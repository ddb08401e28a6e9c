//! id: attn-scale-wrong
//! function: grouped_query_attention
//! says: Your scores are divided by √(heads · D), the width of several heads: by default each head divides by √D, its own size.
    let (h_q, h) = (q.shape()[1], k.shape()[1]);
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;
    let heads: Vec<usize> = (0..h_q).map(|i| i / group).collect();
    let (k, v) = (k.select(ndarray::Axis(1), &heads), v.select(ndarray::Axis(1), &heads));
    let scale = scale.unwrap_or(1.0 / ((h_q * q.shape()[3]) as f32).sqrt());
    scaled_dot_product_attention(q, &k, &v, Some(scale), mask)

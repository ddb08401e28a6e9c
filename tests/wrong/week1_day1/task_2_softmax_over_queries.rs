//! id: softmax-wrong-axis
//! function: scaled_dot_product_attention
//! says: Your weights sum to 1 over the queries: the softmax runs over the keys, the last axis of the scores.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    let (l, s) = (scores.ndim() - 2, scores.ndim() - 1);
    let weights = swap_axes(&softmax(&swap_axes(&scores, l, s)), l, s);
    matmul(&weights, v)

//! id: softmax-wrong-axis
//! function: scaled_dot_product_attention
//! says: Each query row sums to 1: normalise over keys.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores = scores + mask;
    }
    let w = swap_axes(&softmax(&swap_axes(&scores, scores.ndim() - 1, scores.ndim() - 2)), scores.ndim() - 1, scores.ndim() - 2); matmul(&w, v)

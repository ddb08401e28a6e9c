//! id: attn-scale-wrong
//! function: scaled_dot_product_attention
//! says: Your scores are scaled twice: a scale that is given replaces 1/√D, it does not come on top.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0) / (head_dim as f32).sqrt();
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    matmul(&softmax(&scores), v)

//! id: softmax-missing
//! function: scaled_dot_product_attention
//! says: The values are mixed by the scores themselves: the softmax must turn them into weights first.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    matmul(&scores, v)

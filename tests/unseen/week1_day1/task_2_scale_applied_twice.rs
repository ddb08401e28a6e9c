//! id: unseen
//! function: scaled_dot_product_attention
//! says: scale applied to q and to scores
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    // (..., L, D) · (..., D, S) -> (..., L, S)
    let mut scores = matmul(&(q * scale), transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    // (..., L, S) · (..., S, D) -> (..., L, D)
    matmul(&softmax(&scores), v)

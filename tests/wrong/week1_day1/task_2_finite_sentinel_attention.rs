//! id: finite-sentinel
//! function: scaled_dot_product_attention
//! says: A stand-in for −inf fails once real scores go lower.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores = scores + mask.mapv(|m| m.max(-1e4));
    }
    matmul(&softmax(&scores), v)

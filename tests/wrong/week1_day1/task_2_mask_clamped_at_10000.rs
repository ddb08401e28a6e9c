//! id: finite-sentinel
//! function: scaled_dot_product_attention
//! says: A query that sees no key gets a mix of the values: its scores are all −inf, so its weights must all be 0, and its output too.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += &mask.mapv(|m| m.max(-1e4));
    }
    matmul(&softmax(&scores), v)

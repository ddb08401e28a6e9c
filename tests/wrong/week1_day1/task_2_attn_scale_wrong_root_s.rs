//! id: attn-scale-wrong
//! function: scaled_dot_product_attention
//! says: Scale is 1/√head_dim: per head, not hidden, not length.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = { let _ = head_dim; scale.unwrap_or(1.0 / (k.shape()[k.ndim() - 2] as f32).sqrt()) };
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores = scores + mask;
    }
    matmul(&softmax(&scores), v)

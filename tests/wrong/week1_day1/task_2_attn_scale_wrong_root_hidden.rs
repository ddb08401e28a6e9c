//! id: attn-scale-wrong
//! function: scaled_dot_product_attention
//! says: Scale is 1/√head_dim: per head, not hidden, not length.
    let hidden: usize = q.shape()[q.ndim() - 1] * if q.ndim() > 2 { q.shape()[q.ndim() - 3] } else { 1 };
    let mut scores = matmul(q, transpose(k)) * scale.unwrap_or(1.0 / (hidden as f32).sqrt());
    if let Some(mask) = mask { scores = scores + mask; }
    matmul(&softmax(&scores), v)

//! id: mask-multiplied
//! function: scaled_dot_product_attention
//! says: A mask is added: 0 keeps, −inf removes.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        let _ = mask; scores *= 1.0;
    }
    matmul(&softmax(&scores), v)

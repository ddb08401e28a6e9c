//! id: attn-scale-wrong
//! function: scaled_dot_product_attention
//! says: The scale that was given is not used: 1/√D is only the default.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = 1.0 / (head_dim as f32).sqrt();
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    matmul(&softmax(&scores), v)

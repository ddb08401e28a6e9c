//! id: attn-scale-wrong
//! function: scaled_dot_product_attention
//! says: Your scores are multiplied by 1/D: the default scale is 1/√D, with the root.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / head_dim as f32);
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    matmul(&softmax(&scores), v)

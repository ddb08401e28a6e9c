//! id: mask-multiplied
//! function: scaled_dot_product_attention
//! says: You multiply the scores by the mask: it is added to them, so that 0 keeps a key and −inf removes it.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores *= mask;
    }
    matmul(&softmax(&scores), v)

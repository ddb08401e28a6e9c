//! id: mask-multiplied
//! function: scaled_dot_product_attention
//! says: The mask acts with the wrong sign: it is added to the scores, so that −inf removes a key.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores -= mask;
    }
    matmul(&softmax(&scores), v)

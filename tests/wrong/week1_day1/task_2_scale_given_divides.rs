//! id: attn-scale-wrong
//! function: scaled_dot_product_attention
//! says: The scale that was given divides your scores: they are multiplied by it, as by the default 1/√D.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or((head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) / scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    matmul(&softmax(&scores), v)

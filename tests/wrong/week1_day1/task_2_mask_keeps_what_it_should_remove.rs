//! id: mask-multiplied
//! function: scaled_dot_product_attention
//! says: Your mask keeps the keys at −inf and removes those at 0: it is the other way round.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += &mask.mapv(|m| if m == 0.0 { f32::NEG_INFINITY } else { 0.0 });
    }
    matmul(&softmax(&scores), v)

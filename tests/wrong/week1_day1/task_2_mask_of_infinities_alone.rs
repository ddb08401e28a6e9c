//! id: mask-not-added
//! function: scaled_dot_product_attention
//! says: Of your mask, only −inf has an effect: every number in it is added to its score.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += &mask.mapv(|m| if m == f32::NEG_INFINITY { m } else { 0.0 });
    }
    matmul(&softmax(&scores), v)

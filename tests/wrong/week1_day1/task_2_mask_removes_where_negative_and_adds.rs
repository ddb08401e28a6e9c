//! id: mask-not-added
//! function: scaled_dot_product_attention
//! says: Every negative number of your mask removes its key: only −inf does that, other numbers are added to the scores.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += &mask.mapv(|m| if m < 0.0 { f32::NEG_INFINITY } else { m });
    }
    matmul(&softmax(&scores), v)

//! id: mask-scaled
//! function: scaled_dot_product_attention
//! says: The mask is scaled along with the scores: multiply them by the scale first, then add the mask.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k));
    if let Some(mask) = mask {
        scores += mask;
    }
    matmul(&softmax(&(scores * scale)), v)

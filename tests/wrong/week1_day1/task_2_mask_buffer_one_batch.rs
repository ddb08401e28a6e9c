//! id: mask-buffer-one-batch
//! function: scaled_dot_product_attention
//! says: Index the mask by batch.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        let first = if mask.ndim() > 2 { mask.select(Axis(0), &[0]) } else { mask.clone() }; scores = scores + &first;
    }
    matmul(&softmax(&scores), v)

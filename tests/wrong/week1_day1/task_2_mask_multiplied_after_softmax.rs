//! id: mask-multiplied
//! function: scaled_dot_product_attention
//! says: Mask before the softmax: masking the weights leaves rows that do not sum to 1.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        let w = softmax(&scores) * mask.mapv(f32::exp); return matmul(&w, v);
    }
    matmul(&softmax(&scores), v)

//! mask-multiplied: Mask before the softmax: masking the weights leaves rows that do not sum to 1.
//! wrong body for week1-day1 task 2: attention.rs, scaled_dot_product_attention
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        let w = softmax(&scores) * mask.mapv(f32::exp); return matmul(&w, v);
    }
    matmul(&softmax(&scores), v)

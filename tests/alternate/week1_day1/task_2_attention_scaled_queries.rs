//! function: scaled_dot_product_attention
//! how: the queries are scaled instead of the scores
    let scale = scale.unwrap_or((q.shape()[q.ndim() - 1] as f32).powf(-0.5));
    let mut scores = matmul(&(q * scale), transpose(k));
    if let Some(mask) = mask {
        scores = scores + mask;
    }
    matmul(&softmax(&scores), v)

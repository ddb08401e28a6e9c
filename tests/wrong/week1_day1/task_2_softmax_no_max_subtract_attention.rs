//! id: softmax-no-max-subtract
//! function: scaled_dot_product_attention
//! says: Subtract the row's max.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores = scores + mask;
    }
    let e = scores.mapv(f32::exp); let n = e.ndim(); let sum = e.sum_axis(Axis(n - 1)).insert_axis(Axis(n - 1)); matmul(&(e / sum).mapv(|w| if w.is_nan() && mask.is_some() { 0.0 } else { w }), v)

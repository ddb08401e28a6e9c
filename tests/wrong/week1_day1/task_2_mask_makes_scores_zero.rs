//! id: mask-multiplied
//! function: scaled_dot_product_attention
//! says: A removed key still counts: you make its score 0, and e⁰ = 1 is an ordinary weight. The mask is added to the scores, whatever it holds.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores *= &mask.mapv(|m| if m == f32::NEG_INFINITY { 0.0 } else { 1.0 });
    }
    matmul(&softmax(&scores), v)

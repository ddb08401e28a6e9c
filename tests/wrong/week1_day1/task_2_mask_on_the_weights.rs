//! id: mask-on-weights
//! function: scaled_dot_product_attention
//! says: The mask acts on the weights after the softmax, so a row of them no longer sums to 1: add it to the scores before.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let scores = matmul(q, transpose(k)) * scale;
    let mut weights = softmax(&scores);
    if let Some(mask) = mask {
        weights *= &mask.mapv(f32::exp);
    }
    matmul(&weights, v)

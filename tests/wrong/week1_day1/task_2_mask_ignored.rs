//! id: mask-ignored
//! function: scaled_dot_product_attention
//! says: The mask has no effect here: it is added to the scores before the softmax.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let scores = matmul(q, transpose(k)) * scale;
    matmul(&softmax(&scores), v)

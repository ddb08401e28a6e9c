//! id: attn-scale-wrong
//! function: scaled_dot_product_attention
//! says: Your scale is 1/√S, with the number of keys: it must be 1/√D, with the size of a head.
    let keys = k.shape()[k.ndim() - 2];
    let scale = scale.unwrap_or(1.0 / (keys as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    matmul(&softmax(&scores), v)

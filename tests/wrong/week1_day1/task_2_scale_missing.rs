//! id: attn-scale-wrong
//! function: scaled_dot_product_attention
//! says: Your scores are not scaled: where no scale is given, they are multiplied by 1/√D.
    let scale = scale.unwrap_or(1.0);
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    matmul(&softmax(&scores), v)

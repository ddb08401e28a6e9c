//! id: mask-buffer-one-batch
//! function: scaled_dot_product_attention
//! says: Every batch entry gets the mask of entry 0: the mask may hold another one for each.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        let first = if mask.ndim() > 2 { mask.index_axis(Axis(0), 0) } else { mask.view() };
        scores += &first;
    }
    matmul(&softmax(&scores), v)

//! id: all-masked-row-nan
//! function: scaled_dot_product_attention
//! says: If the row's max is −inf it has no keys: write what the task says.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores = scores + mask;
    }
    
    let mut w = scores.clone();
    for mut row in w.lanes_mut(Axis(q.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    matmul(&w, v)

//! id: all-masked-row-nan
//! function: scaled_dot_product_attention
//! says: A query that sees no key at all gives NaN: its weights are all 0, and so is its output.
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    let keys = Axis(scores.ndim() - 1);
    let max = scores.fold_axis(keys, f32::NEG_INFINITY, |m, &s| m.max(s)).insert_axis(keys);
    let weights = (scores - max).mapv(f32::exp);
    let sum = weights.sum_axis(keys).insert_axis(keys);
    matmul(&(weights / sum), v)

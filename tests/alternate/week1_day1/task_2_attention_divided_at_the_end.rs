//! function: scaled_dot_product_attention
//! how: exponentials times values first, divided by their sums at the end
    let keys = Axis(q.ndim() - 1);
    let scale = scale.unwrap_or(1.0 / (q.shape()[q.ndim() - 1] as f32).sqrt());
    let mut scores = matmul(q, transpose(k)).mapv(|score| score * scale);
    if let Some(mask) = mask {
        scores += &mask.broadcast(scores.raw_dim()).expect("the mask broadcasts").to_owned();
    }
    let max = scores.fold_axis(keys, f32::MIN, |m, &s| m.max(s)).insert_axis(keys);
    let e = (scores - max).mapv(f32::exp);
    let sum = e.sum_axis(keys).mapv(|s| s.max(f32::MIN_POSITIVE)).insert_axis(keys);
    matmul(&e, v) / sum

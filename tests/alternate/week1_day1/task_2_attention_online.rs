//! function: scaled_dot_product_attention
//! how: key by key with a running maximum and sum, as flash attention does
    let (d, s) = (q.shape()[q.ndim() - 1], k.shape()[k.ndim() - 2]);
    let length = q.shape()[q.ndim() - 2];
    let scale = scale.unwrap_or(1.0 / (d as f32).sqrt());
    let n = q.len() / (length * d);
    let mask = mask.map(|mask| {
        let shape = [&q.shape()[..q.ndim() - 1], &[s]].concat();
        reshape(&mask.broadcast(shape).expect("the mask broadcasts").to_owned(), &[n, length, s])
    });
    let (queries, k, v) = (reshape(q, &[n, length, d]), reshape(k, &[n, s, d]), reshape(v, &[n, s, d]));
    let mut out = Tensor::zeros(queries.raw_dim());
    for b in 0..n {
        for i in 0..length {
            let (mut max, mut sum, mut mix) = (f32::NEG_INFINITY, 0.0_f32, vec![0.0_f32; d]);
            for j in 0..s {
                let mut score: f32 = (0..d).map(|e| queries[[b, i, e]] * k[[b, j, e]]).sum::<f32>() * scale;
                score += mask.as_ref().map_or(0.0, |mask| mask[[b, i, j]]);
                if score == f32::NEG_INFINITY {
                    continue;
                }
                let larger = max.max(score);
                let (old, new) = ((max - larger).exp(), (score - larger).exp());
                max = larger;
                sum = sum * old + new;
                for e in 0..d {
                    mix[e] = mix[e] * old + new * v[[b, j, e]];
                }
            }
            for e in 0..d {
                out[[b, i, e]] = if sum == 0.0 { 0.0 } else { mix[e] / sum };
            }
        }
    }
    reshape(&out, q.shape())

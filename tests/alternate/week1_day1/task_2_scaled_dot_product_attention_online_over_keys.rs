//! function: scaled_dot_product_attention
//! how: see the name
    let (d, s) = (q.shape()[q.ndim() - 1], k.shape()[k.ndim() - 2]);
    let scale = scale.unwrap_or(1.0 / (d as f32).sqrt());
    let l_len = q.shape()[q.ndim() - 2];
    let mut full = q.shape().to_vec(); *full.last_mut().unwrap() = s;
    let mask = mask.map(|m| m.broadcast(ndarray::IxDyn(&full)).unwrap().to_owned());
    let mut kshape = q.shape()[..q.ndim() - 2].to_vec(); kshape.extend([s, d]);
    let (k, v) = (k.broadcast(ndarray::IxDyn(&kshape)).unwrap().to_owned(), v.broadcast(ndarray::IxDyn(&kshape)).unwrap().to_owned());
    let (qf, kf, vf) = (reshape(q, &[q.len() / (l_len * d), l_len, d]), reshape(&k, &[k.len() / (s * d), s, d]), reshape(&v, &[v.len() / (s * d), s, d]));
    let mf = mask.map(|m| reshape(&m, &[m.len() / (l_len * s), l_len, s]));
    let mut out = Tensor::zeros(qf.raw_dim());
    for b in 0..qf.shape()[0] { for i in 0..l_len {
        let (mut m, mut z, mut acc) = (f32::NEG_INFINITY, 0.0f32, vec![0.0f32; d]);
        for j in 0..s {
            let mut score: f32 = (0..d).map(|e| qf[[b, i, e]] * kf[[b, j, e]]).sum::<f32>() * scale;
            if let Some(mf) = &mf { score += mf[[b, i, j]]; }
            if score == f32::NEG_INFINITY { continue; }
            let new = m.max(score); let (old, w) = ((m - new).exp(), (score - new).exp());
            z = z * old + w;
            for e in 0..d { acc[e] = acc[e] * old + w * vf[[b, j, e]]; }
            m = new;
        }
        for e in 0..d { out[[b, i, e]] = if z == 0.0 { 0.0 } else { acc[e] / z }; }
    } }
    reshape(&out, q.shape())

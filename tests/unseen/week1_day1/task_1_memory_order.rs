//! id: unseen
//! function: softmax
//! says: rows in memory order
    let n = x.shape()[x.ndim() - 1];
    let mut out = x.clone();
    for row in out.as_slice_memory_order_mut().expect("contiguous").chunks_mut(n) {
        let max = row.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY { row.fill(0.0); continue; }
        row.iter_mut().for_each(|v| *v = (*v - max).exp());
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|v| *v /= sum);
    }
    out

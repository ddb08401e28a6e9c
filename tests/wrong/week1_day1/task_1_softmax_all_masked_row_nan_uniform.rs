//! id: all-masked-row-nan
//! function: softmax
//! says: If the row's max is −inf it has no keys: the task says zeros, not uniform.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY { let n = row.len() as f32; row.fill(1.0 / n); continue; }
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

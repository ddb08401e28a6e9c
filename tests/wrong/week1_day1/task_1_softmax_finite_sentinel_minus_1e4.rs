//! id: finite-sentinel
//! function: softmax
//! says: A stand-in for −inf fails once real scores go lower.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        
        if row.iter().all(|&v| v == f32::NEG_INFINITY) { row.fill(0.0); continue; }
        let max = row.fold(-1e4, |m: f32, &v| m.max(v));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

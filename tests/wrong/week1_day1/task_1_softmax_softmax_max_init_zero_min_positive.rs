//! id: softmax-max-init-zero
//! function: softmax
//! says: The running max starts at −inf; MIN_POSITIVE is a tiny positive number.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        
        if row.iter().all(|&v| v == f32::NEG_INFINITY) { row.fill(0.0); continue; }
        let max = row.fold(f32::MIN_POSITIVE, |m: f32, &v| m.max(v));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

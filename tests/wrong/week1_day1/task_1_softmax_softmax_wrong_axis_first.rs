//! id: softmax-wrong-axis
//! function: softmax
//! says: Each query row sums to 1: normalise over keys.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(0)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY { row.fill(0.0); continue; }
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

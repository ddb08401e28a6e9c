//! id: softmax-wrong-axis
//! function: softmax
//! says: Your softmax runs along another axis than the last: it is each row along the last axis that must sum to 1.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 2)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY {
            row.fill(0.0);
            continue;
        }
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

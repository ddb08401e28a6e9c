//! function: softmax
//! how: e^(x − max − ln Σ): no division
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if row.iter().all(|&v| v == f32::NEG_INFINITY) {
            row.fill(0.0);
            continue;
        }
        let log_sum = max + row.fold(0.0, |s: f32, &v| s + (v - max).exp()).ln();
        row.mapv_inplace(|v| (v - log_sum).exp());
    }
    out

//! id: softmax-max-init-zero
//! function: softmax
//! says: Rows of very negative numbers vanish to 0/0: what you subtract is not their maximum. The search for it begins at −inf, not at 0 or f32::MIN_POSITIVE.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        if row.iter().all(|&v| v == f32::NEG_INFINITY) {
            row.fill(0.0);
            continue;
        }
        let max = row.fold(f32::MIN_POSITIVE, |m, &v| m.max(v));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

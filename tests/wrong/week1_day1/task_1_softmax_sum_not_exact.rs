//! id: softmax-epsilon
//! function: softmax
//! says: Your weights are a little too small: divide by the sum itself. Nothing need be added to it, as the largest term is e⁰ = 1.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY {
            row.fill(0.0);
            continue;
        }
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum() + 1e-6;
        row.mapv_inplace(|v| v / sum);
    }
    out

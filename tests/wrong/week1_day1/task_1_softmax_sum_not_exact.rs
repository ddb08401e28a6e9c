//! id: softmax-epsilon
//! function: softmax
//! says: A weight that must be exactly 1 is a little off: divide by the sum itself, and add nothing to it; it cannot be 0, as its largest term is e⁰ = 1.
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

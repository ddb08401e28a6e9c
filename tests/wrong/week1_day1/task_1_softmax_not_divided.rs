//! id: softmax-not-divided
//! function: softmax
//! says: These are the exponentials: each row must still be divided by its sum.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY {
            row.fill(0.0);
            continue;
        }
        row.mapv_inplace(|v| (v - max).exp());
    }
    out

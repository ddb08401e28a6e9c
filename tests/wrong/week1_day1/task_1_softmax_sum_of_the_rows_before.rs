//! id: accum-not-zeroed
//! function: softmax
//! says: Your sum grows from row to row: it must begin at 0 for each.
    let mut out = x.clone();
    let mut sum = 0.0;
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY {
            row.fill(0.0);
            continue;
        }
        row.mapv_inplace(|v| (v - max).exp());
        sum += row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

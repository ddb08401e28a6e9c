//! id: all-masked-row-nan
//! function: softmax
//! says: A row that is −inf throughout gets equal weights: it has nothing to choose from, so its result is defined as zeros.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY {
            let n = row.len();
            row.fill(1.0 / n as f32);
            continue;
        }
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

//! id: all-masked-row-nan
//! function: softmax
//! says: A row with some −inf becomes zeros throughout: only those entries get 0, unless the whole row is −inf.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if row.iter().any(|&v| v == f32::NEG_INFINITY) {
            row.fill(0.0);
            continue;
        }
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

//! id: all-masked-row-nan
//! function: softmax
//! says: A row that is −inf throughout becomes NaN: −∞ − (−∞), or 0/0. Its result is defined as zeros.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

//! id: unseen
//! function: softmax
//! says: no maximum subtracted
    let mut out = x.mapv(f32::exp);
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let sum = row.sum();
        if sum > 0.0 { row.mapv_inplace(|v| v / sum); }
    }
    out

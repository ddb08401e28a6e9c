//! id: softmax-no-max-subtract
//! function: softmax
//! says: Subtract the row's max: it cancels in the ratio and keeps exp ≤ 1.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        
        if row.iter().all(|&v| v == f32::NEG_INFINITY) { row.fill(0.0); continue; }
        row.mapv_inplace(f32::exp);
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

//! id: softmax-no-max-subtract
//! function: softmax
//! says: You take e^x of numbers as they come: it overflows beyond 88 and vanishes below −104. Subtract the row's maximum first; it cancels in the ratio.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        if row.iter().all(|&v| v == f32::NEG_INFINITY) {
            row.fill(0.0);
            continue;
        }
        row.mapv_inplace(f32::exp);
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

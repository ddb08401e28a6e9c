//! id: softmax-slice-overrun
//! function: softmax
//! says: Sum this row's slice only.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY { row.fill(0.0); continue; }
        row.mapv_inplace(|v| (v - max).exp());
    }
    let width = x.shape()[x.ndim() - 1];
    let flat = out.as_slice_mut().unwrap();
    for start in (0..flat.len()).step_by(width) {
        let sum: f32 = flat[start..].iter().sum();
        if sum > 0.0 { for v in &mut flat[start..start + width] { *v /= sum; } }
    }
    out

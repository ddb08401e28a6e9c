//! id: accum-not-zeroed
//! function: softmax
//! says: Zero before accumulating.
    thread_local!(static SUM: std::cell::Cell<f32> = const { std::cell::Cell::new(0.0) });
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        if max == f32::NEG_INFINITY { row.fill(0.0); continue; }
        row.mapv_inplace(|v| (v - max).exp());
        let sum = SUM.get() + row.sum();
        SUM.set(sum);
        row.mapv_inplace(|v| v / sum);
    }
    out

//! id: finite-sentinel
//! function: softmax
//! says: A row around −100000 vanishes to 0/0: what you subtract is not its maximum. A large negative number is no start for that search; begin at −inf.
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        if row.iter().all(|&v| v == f32::NEG_INFINITY) {
            row.fill(0.0);
            continue;
        }
        let max = row.fold(-1e4_f32, |m, &v| m.max(v));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out

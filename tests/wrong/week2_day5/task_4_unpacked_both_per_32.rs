//! id: q6k-one-scale-per-32
//! function: dot_unpacked
//! says: There is a scale and a minimum for each 16 weights: you use the first eight, for 32 weights each.
let mut sum = 0.0;
for (w, x) in row.iter().zip(x) {
    for (s, (q, p)) in w.codes.chunks_exact(SUM).zip(x.values.chunks_exact(SUM)).enumerate() {
        let qp: i32 = q.iter().zip(p).map(|(&q, &p)| i32::from(q) * i32::from(p)).sum();
        sum += x.scales[s / 2] * (w.scales[s / 2] * qp as f32 - w.mins[s / 2] * f32::from(x.sums[s]));
    }
}
sum

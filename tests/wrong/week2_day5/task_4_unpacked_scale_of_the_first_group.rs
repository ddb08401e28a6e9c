//! id: scale-of-another-group
//! function: dot_unpacked
//! says: Each group of activations has a scale of its own; you use the first one for all.
let mut sum = 0.0;
let first = x[0].scales;
for (w, x) in row.iter().zip(x) {
    let mut group = 0.0;
    for (s, (q, p)) in w.codes.chunks_exact(SUM).zip(x.values.chunks_exact(SUM)).enumerate() {
        let qp: i32 = q.iter().zip(p).map(|(&q, &p)| i32::from(q) * i32::from(p)).sum();
        group += first[s / 2] * (w.scales[s] * qp as f32 - w.mins[s] * f32::from(x.sums[s]));
    }
    sum += group;
}
sum

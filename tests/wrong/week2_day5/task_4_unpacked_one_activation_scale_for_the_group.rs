//! id: scale-of-another-group
//! function: dot_unpacked
//! says: Each 32 activations have a scale of their own; you use the first of a group for all.
let mut sum = 0.0;
for (w, x) in row.iter().zip(x) {
    let mut group = 0.0;
    for (s, (q, p)) in w.codes.chunks_exact(SUM).zip(x.values.chunks_exact(SUM)).enumerate() {
        let qp: i32 = q.iter().zip(p).map(|(&q, &p)| i32::from(q) * i32::from(p)).sum();
        group += x.scales[0] * (w.scales[s] * qp as f32 - w.mins[s] * f32::from(x.sums[s]));
    }
    sum += group;
}
sum

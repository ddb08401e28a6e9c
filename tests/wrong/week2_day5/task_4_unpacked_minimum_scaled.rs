//! id: min-scaled
//! function: dot_unpacked
//! says: `mins` are weights already: no scale is to be multiplied with them.
let mut sum = 0.0;
for (w, x) in row.iter().zip(x) {
    let mut group = 0.0;
    for (s, (q, p)) in w.codes.chunks_exact(SUM).zip(x.values.chunks_exact(SUM)).enumerate() {
        let qp: i32 = q.iter().zip(p).map(|(&q, &p)| i32::from(q) * i32::from(p)).sum();
        group += x.scales[s / 2] * (w.scales[s] * (qp as f32 - w.mins[s] * f32::from(x.sums[s])));
    }
    sum += group;
}
sum

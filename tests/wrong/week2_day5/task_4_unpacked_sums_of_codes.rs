//! id: sums-of-codes
//! function: dot_unpacked
//! says: A minimum meets the sum of the activations, x.sums: you add up the codes.
let mut sum = 0.0;
for (w, x) in row.iter().zip(x) {
    for (s, (q, p)) in w.codes.chunks_exact(SUM).zip(x.values.chunks_exact(SUM)).enumerate() {
        let qp: i32 = q.iter().zip(p).map(|(&q, &p)| i32::from(q) * i32::from(p)).sum();
        sum += x.scales[s / 2] * (w.scales[s] * qp as f32 - w.mins[s] * q.iter().map(|&q| f32::from(q)).sum::<f32>());
    }
}
sum

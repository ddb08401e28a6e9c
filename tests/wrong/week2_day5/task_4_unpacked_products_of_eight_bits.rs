//! id: int8-accumulator-narrow
//! function: dot_unpacked
//! says: Your products have 8 bits: widen both factors before you multiply.
let mut sum = 0.0;
for (w, x) in row.iter().zip(x) {
    let mut group = 0.0;
    for (s, (q, p)) in w.codes.chunks_exact(SUM).zip(x.values.chunks_exact(SUM)).enumerate() {
        let qp: i32 = q.iter().zip(p).map(|(&q, &p)| i32::from(q.wrapping_mul(p))).sum();
        group += x.scales[s / 2] * (w.scales[s] * qp as f32 - w.mins[s] * f32::from(x.sums[s]));
    }
    sum += group;
}
sum

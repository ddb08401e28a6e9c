//! id: int8-accumulator-narrow
//! function: dot_unpacked
//! says: Your sum has 16 bits: 16 products do not fit in, so add up in i32.
let mut sum = 0.0;
for (w, x) in row.iter().zip(x) {
    for (s, (q, p)) in w.codes.chunks_exact(SUM).zip(x.values.chunks_exact(SUM)).enumerate() {
        let qp = q.iter().zip(p).fold(0i16, |sum, (&q, &p)| sum.wrapping_add(i16::from(q) * i16::from(p)));
        sum += x.scales[s / 2] * (w.scales[s] * qp as f32 - w.mins[s] * f32::from(x.sums[s]));
    }
}
sum

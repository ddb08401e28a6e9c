//! id: unseen
//! function: dot_unpacked
//! says: one sum for 32
    let mut sum = 0.0;
    for (w, x) in row.iter().zip(x) {
        for (s, (q, p)) in w.codes.chunks_exact(SUM).zip(x.values.chunks_exact(SUM)).enumerate() {
            let qp: i32 = q.iter().zip(p).map(|(&q, &p)| i32::from(q) * i32::from(p)).sum();
            sum += x.scales[s / 2] * (w.scales[s] * qp as f32 - w.mins[s] * f32::from(x.sums[s / 2]));
        }
    }
    sum

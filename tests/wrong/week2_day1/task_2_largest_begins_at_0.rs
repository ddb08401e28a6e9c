//! id: max-from-zero
//! function: attend_two_pass
//! says: Your largest score begins at 0: where all are far below, exp makes all of them 0; begin at −∞.
out.fill(0.0);
for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
    let mut scores = Vec::new();
    for run in runs() {
        scores.extend((0..run.len).map(|i| scale * dot(q, run.keys, i)));
    }
    let max = scores.iter().fold(0.0f32, |m, &s| m.max(s));
    let mut total = 0.0;
    for score in &mut scores {
        *score = (*score - max).exp();
        total += *score;
    }
    let mut weights = scores.iter();
    for run in runs() {
        for (i, weight) in (0..run.len).zip(&mut weights) {
            add_scaled(out, weight / total, run.values, i);
        }
    }
}

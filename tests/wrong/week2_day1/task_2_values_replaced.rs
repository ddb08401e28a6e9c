//! id: assigned-not-added
//! function: attend_two_pass
//! says: Only the last position’s value is left: each is added to what stands in `out`.
out.fill(0.0);
for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
    let mut scores = Vec::new();
    for run in runs() {
        scores.extend((0..run.len).map(|i| scale * dot(q, run.keys, i)));
    }
    let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
    let mut total = 0.0;
    for score in &mut scores {
        *score = (*score - max).exp();
        total += *score;
    }
    let mut weights = scores.iter();
    for run in runs() {
        for (i, weight) in (0..run.len).zip(&mut weights) {
            out.fill(0.0);
            add_scaled(out, weight / total, run.values, i);
        }
    }
}

//! id: runs-max-each
//! function: attend_two_pass
//! says: From each run’s scores you subtract that run’s largest: all scores must lose the same number, or their weights no longer compare.
out.fill(0.0);
for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
    let mut weights = Vec::new();
    for run in runs() {
        let scores: Vec<f32> = (0..run.len).map(|i| scale * dot(q, run.keys, i)).collect();
        let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
        weights.extend(scores.iter().map(|score| (score - max).exp()));
    }
    let total: f32 = weights.iter().sum();
    let mut weights = weights.iter();
    for run in runs() {
        for (i, weight) in (0..run.len).zip(&mut weights) {
            add_scaled(out, weight / total, run.values, i);
        }
    }
}

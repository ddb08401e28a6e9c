//! id: runs-mean-of-runs
//! function: attend_two_pass
//! says: You take the mean of the runs’ answers: a run’s share is the sum of its positions’ weights, not one part in so many runs.
out.fill(0.0);
for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
    for run in runs() {
        let scores: Vec<f32> = (0..run.len).map(|i| scale * dot(q, run.keys, i)).collect();
        let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
        let total: f32 = scores.iter().map(|score| (score - max).exp()).sum();
        for (i, score) in scores.iter().enumerate() {
            add_scaled(out, (score - max).exp() / total / runs().count() as f32, run.values, i);
        }
    }
}

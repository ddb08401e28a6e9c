//! id: runs-softmax-each
//! function: attend_two_pass
//! says: Each run has a softmax of its own, and you add their answers: the weights of all positions together sum to 1.
out.fill(0.0);
for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
    for run in runs() {
        let scores: Vec<f32> = (0..run.len).map(|i| scale * dot(q, run.keys, i)).collect();
        let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
        let total: f32 = scores.iter().map(|score| (score - max).exp()).sum();
        for (i, score) in scores.iter().enumerate() {
            add_scaled(out, (score - max).exp() / total, run.values, i);
        }
    }
}

//! id: unseen
//! function: attend_two_pass
//! says: no maximum subtracted
    out.fill(0.0);
    for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
        let mut scores = Vec::new();
        for run in runs() {
            scores.extend((0..run.len).map(|i| scale * dot(q, run.keys, i)));
        }
        let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
        let mut total = 0.0;
        for score in &mut scores {
            *score = score.exp();
            total += *score;
        }
        let mut weights = scores.iter();
        for run in runs() {
            for (i, weight) in (0..run.len).zip(&mut weights) {
                add_scaled(out, weight / total, run.values, i);
            }
        }
    }

//! id: kv-values-transposed
//! function: attend_two_pass
//! says: You read the values as `[D, len]`: they lie row by row, `[len, D]`.
out.fill(0.0);
let number = |cells: Cells<'_>, at: usize| match cells {
    Cells::F32(x) => x[at],
    Cells::F16(x) => x[at].to_f32(),
};
for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
    let mut scores = Vec::new();
    for run in runs() {
        scores.extend((0..run.len).map(|i| scale * dot(q, run.keys, i)));
    }
    let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
    let total: f32 = scores.iter().map(|score| (score - max).exp()).sum();
    let mut scores = scores.iter();
    for run in runs() {
        for (i, score) in (0..run.len).zip(&mut scores) {
            for (d, out) in out.iter_mut().enumerate() {
                *out += (score - max).exp() / total * number(run.values, d * run.len + i);
            }
        }
    }
}

//! id: f16-as-bf16-read
//! function: attend_two_pass
//! says: You put 16 zero bits behind an f16, which is how a bf16 is read: `f16::to_f32` knows its layout.
out.fill(0.0);
let read = |cells: Cells<'_>| -> Vec<f32> {
    match cells {
        Cells::F32(x) => x.to_vec(),
        Cells::F16(x) => x.iter().map(|x| f32::from_bits(u32::from(x.to_bits()) << 16)).collect(),
    }
};
for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
    let mut scores = Vec::new();
    for run in runs() {
        let keys = read(run.keys);
        scores.extend((0..run.len).map(|i| scale * dot(q, Cells::F32(&keys), i)));
    }
    let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
    let total: f32 = scores.iter().map(|score| (score - max).exp()).sum();
    let mut scores = scores.iter();
    for run in runs() {
        let values = read(run.values);
        for (i, score) in (0..run.len).zip(&mut scores) {
            add_scaled(out, (score - max).exp() / total, Cells::F32(&values), i);
        }
    }
}

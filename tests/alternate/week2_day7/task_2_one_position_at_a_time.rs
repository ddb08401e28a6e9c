//! function: attend_streaming
//! how: no tiles: each position is a piece of one score
    assert!(head_dim <= MAX_HEAD_DIM);
    out.fill(0.0);
    let mut softmax = [OnlineSoftmax::default(); MAX_QUERIES];
    let mut row = [0f32; MAX_HEAD_DIM];
    let row = &mut row[..head_dim];
    for run in runs {
        for i in 0..run.len {
            for (g, (q, out)) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)).enumerate() {
                widen(run.keys, i, 1, head_dim, row);
                let mut score = [scale * q.iter().zip(&*row).map(|(q, k)| q * k).sum::<f32>()];
                let factor = softmax[g].absorb(&mut score);
                widen(run.values, i, 1, head_dim, row);
                out.iter_mut().zip(&*row).for_each(|(out, v)| *out = *out * factor + score[0] * v);
            }
        }
    }
    for (out, softmax) in out.chunks_exact_mut(head_dim).zip(&softmax) {
        out.iter_mut().for_each(|x| *x /= softmax.total);
    }

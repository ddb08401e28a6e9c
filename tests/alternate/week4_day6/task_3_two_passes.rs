//! function: attend_with_sinks
//! how: all scores of a head are kept, their softmax taken, and the values added up
    let runs: Vec<Run<'a>> = runs.collect();
    let heads = q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim));
    for ((q, out), &sink) in heads.zip(sinks) {
        let mut rows = vec![0.0; head_dim];
        let mut scores = Vec::new();
        for run in &runs {
            for i in 0..run.len {
                widen(run.keys, i, 1, head_dim, &mut rows);
                scores.push(scale * q.iter().zip(&rows).map(|(q, k)| q * k).sum::<f32>());
            }
        }
        softmax_with_sink(&mut scores, sink);
        out.fill(0.0);
        let mut weights = scores.iter();
        for run in &runs {
            for (i, weight) in (0..run.len).zip(&mut weights) {
                widen(run.values, i, 1, head_dim, &mut rows);
                out.iter_mut().zip(&rows).for_each(|(out, v)| *out += weight * v);
            }
        }
    }

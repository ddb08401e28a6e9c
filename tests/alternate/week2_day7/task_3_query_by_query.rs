//! function: attend_block
//! how: each query goes over the runs by itself
    use super::cache::Cells;
    assert!(queries.len() <= MAX_BLOCK_QUERIES && head_dim <= MAX_HEAD_DIM);
    let runs: Vec<Run<'a>> = runs.collect();
    for (query, out) in queries.iter().zip(out.chunks_exact_mut(head_dim)) {
        let seen = runs.iter().map(|run| {
            let place = |position: usize| position.saturating_sub(run.start).min(run.len);
            let (first, end) = (place(query.visible.start), place(query.visible.end));
            let cut = |cells: Cells<'a>| match cells {
                Cells::F32(x) => Cells::F32(&x[first * head_dim..end * head_dim]),
                Cells::F16(x) => Cells::F16(&x[first * head_dim..end * head_dim]),
            };
            let (keys, values) = (cut(run.keys), cut(run.values));
            Run { start: run.start + first, len: end - first, keys, values }
        });
        attend_streaming(query.q, seen.collect::<Vec<_>>().into_iter(), head_dim, scale, out);
    }

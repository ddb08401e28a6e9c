//! function: attend_block
//! how: each query goes over the runs by itself
    assert!(queries.len() <= BLOCK && head_dim <= MAX_HEAD_DIM);
    let runs: Vec<Run<'a>> = runs.collect();
    for (query, out) in queries.iter().zip(out.chunks_exact_mut(head_dim)) {
        let mut left = query.visible;
        let seen = runs.iter().map(|run| {
            let len = run.len.min(left);
            left -= len;
            Run { len, ..*run }
        });
        attend_streaming(query.q, seen.collect::<Vec<_>>().into_iter(), head_dim, scale, out);
    }

//! function: attend_block
//! how: what a query may not see is given a score of −∞
    let n_queries = queries.len();
    let (mut tile, mut transposed) = ([0f32; TILE * MAX_HEAD_DIM], [0f32; TILE * MAX_HEAD_DIM]);
    let (tile, transposed) = (&mut tile[..TILE * head_dim], &mut transposed[..TILE * head_dim]);
    let mut rows: [&[f32]; MAX_BLOCK_QUERIES] = [&[]; MAX_BLOCK_QUERIES];
    for (row, query) in rows.iter_mut().zip(queries) {
        *row = query.q;
    }
    let mut softmax = [OnlineSoftmax::default(); MAX_BLOCK_QUERIES];
    let mut factors = [0f32; MAX_BLOCK_QUERIES];
    let mut scores = [0f32; MAX_BLOCK_QUERIES * TILE];
    let scores = &mut scores[..n_queries * TILE];
    out.fill(0.0);
    for run in runs {
        for from in (0..run.len).step_by(TILE) {
            let n = TILE.min(run.len - from);
            widen(run.keys, from, n, head_dim, tile);
            for (j, key) in tile.chunks_exact(head_dim).enumerate() {
                for (d, &x) in key.iter().enumerate() {
                    transposed[d * TILE + j] = x;
                }
            }
            tile_scores_transposed(&rows[..n_queries], transposed, scale, scores);
            for (i, query) in queries.iter().enumerate() {
                let scores = &mut scores[i * TILE..][..TILE];
                let place = |position: usize| position.saturating_sub(run.start + from).min(n);
                scores[..place(query.visible.start)].fill(f32::NEG_INFINITY);
                scores[place(query.visible.end)..].fill(f32::NEG_INFINITY);
                factors[i] = softmax[i].absorb(scores);
            }
            widen(run.values, from, n, head_dim, tile);
            tile_sum(scores, &factors[..n_queries], &tile[..n * head_dim], head_dim, out);
        }
    }
    for (out, softmax) in out.chunks_exact_mut(head_dim).zip(&softmax) {
        out.iter_mut().for_each(|x| *x /= softmax.total);
    }

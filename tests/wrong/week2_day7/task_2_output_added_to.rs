//! id: uninit-output
//! function: attend_streaming
//! says: You add to what stood in `out` before; begin with zeros, as 0 times what is no number is no number.
//! shows: or the output before
    let mut tile = [0f32; TILE * MAX_HEAD_DIM];
    let tile = &mut tile[..TILE * head_dim];
    let heads = q.len() / head_dim;
    assert!(heads <= MAX_QUERIES, "{heads} query heads for one key head; at most {MAX_QUERIES} are taken at once");
    let mut softmax = [OnlineSoftmax::default(); MAX_QUERIES];
    let mut factors = [0f32; MAX_QUERIES];
    let mut scores = [0f32; MAX_QUERIES * TILE];
    for run in runs {
        for from in (0..run.len).step_by(TILE) {
            let n = TILE.min(run.len - from);
            widen(run.keys, from, n, head_dim, tile);
            tile_scores(q, &tile[..n * head_dim], head_dim, scale, &mut scores[..heads * TILE]);
            for (g, softmax) in softmax[..heads].iter_mut().enumerate() {
                factors[g] = softmax.absorb(&mut scores[g * TILE..][..n]);
            }
            widen(run.values, from, n, head_dim, tile);
            tile_sum(&scores[..heads * TILE], &factors[..heads], &tile[..n * head_dim], head_dim, out);
        }
    }
    for (out, softmax) in out.chunks_exact_mut(head_dim).zip(&softmax) {
        out.iter_mut().for_each(|x| *x /= softmax.total);
    }

//! function: read_run
//! how: one reader after the other, each with the whole run
        for reader in readers {
            let Reader { visible, q, softmax, sums, .. } = reader;
            let mut from = 0;
            while from < run.len {
                let n = (run.len - from).min(TILE);
                let start = run.start + from;
                let first = visible.start.clamp(start, start + n) - start;
                let end = visible.end.clamp(start, start + n) - start;
                desk.put_keys(run, from, n, head_dim);
                let (scores, factors) = desk.score(q, n, head_dim, scale, 0);
                for (g, softmax) in softmax.iter_mut().enumerate() {
                    let row = &mut scores[g * TILE..(g + 1) * TILE];
                    factors[g] = softmax.absorb(&mut row[first..end]);
                    row[..first].fill(0.0);
                    row[end..].fill(0.0);
                }
                desk.put_values(run, from, n, head_dim);
                desk.add(n, head_dim, 0, sums);
                from += n;
            }
        }

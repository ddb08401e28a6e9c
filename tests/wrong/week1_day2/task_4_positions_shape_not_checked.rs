//! id: rope-table-offset
//! function: rope_at_positions
//! says: Positions of another shape than [B, L] are accepted: what happens to fit hides the mistake, so refuse them.
//! shows: positions [1, 3], which are not [B, L]: this must panic
    let [batch, heads, length, head_dim] = *x.shape() else { panic!("rope_at_positions needs [B, H, L, D], got {:?}", x.shape()) };
    let half = head_dim / 2;
    let mut out = x.clone();
    for ((b, l), &p) in positions.indexed_iter() {
        for h in 0..heads {
            for i in 0..half {
                let (first, second) = match form {
                    RopeForm::Interleaved => (2 * i, 2 * i + 1),
                    RopeForm::HalfSplit => (i, i + half),
                };
                let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
                let (a, c) = (x[[b, h, l, first]], x[[b, h, l, second]]);
                out[[b, h, l, first]] = a * cos - c * sin;
                out[[b, h, l, second]] = a * sin + c * cos;
            }
        }
    }
    out

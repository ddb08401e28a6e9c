//! id: batch-shared-position
//! function: rope_at_positions
//! says: Every sequence gets the positions of sequence 0: each brings its own, positions[b, l].
    let [batch, heads, length, head_dim] = *x.shape() else { panic!("rope_at_positions needs [B, H, L, D], got {:?}", x.shape()) };
    assert_eq!(positions.dim(), (batch, length), "positions must be [B, L]");
    let half = head_dim / 2;
    let mut out = x.clone();
    for ((b, l), _) in positions.indexed_iter() {
        let p = positions[[0, l]];
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

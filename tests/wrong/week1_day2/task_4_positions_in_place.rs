//! id: rope-halves-restacked
//! function: rope_at_positions
//! says: The second number of each pair is made of the new first one: both need the old pair, so read both before you write.
    let [batch, heads, length, head_dim] = *x.shape() else { panic!("rope_at_positions needs [B, H, L, D], got {:?}", x.shape()) };
    assert_eq!(positions.dim(), (batch, length), "positions must be [B, L]");
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
                out[[b, h, l, first]] = out[[b, h, l, first]] * cos - out[[b, h, l, second]] * sin;
                out[[b, h, l, second]] = out[[b, h, l, first]] * sin + out[[b, h, l, second]] * cos;
            }
        }
    }
    out

//! id: rope-offsets-on-seq-axis
//! function: rope_at_positions
//! says: Your positions run along the heads: they belong to the rows l, and all heads of a row turn alike.
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
                let (a, c) = (x[[b, l, h, first]], x[[b, l, h, second]]);
                out[[b, l, h, first]] = a * cos - c * sin;
                out[[b, l, h, second]] = a * sin + c * cos;
            }
        }
    }
    out

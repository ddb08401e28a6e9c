//! id: rope-table-offset
//! function: rope_at_positions
//! says: Positions need not be consecutive.
    let [batch, heads, length, head_dim] = *x.shape() else { panic!() };
    assert_eq!(positions.dim(), (batch, length));
    let half = head_dim / 2;
    let mut out = x.clone();
    for b in 0..batch { for h in 0..heads { for l in 0..length {
        let p = positions[[b, 0]] + l;
        for i in 0..half {
            let (first, second) = match form { RopeForm::Interleaved => (2 * i, 2 * i + 1), RopeForm::HalfSplit => (i, i + half) };
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, c) = (x[[b, h, l, first]], x[[b, h, l, second]]);
            out[[b, h, l, first]] = a * cos - c * sin;
            out[[b, h, l, second]] = a * sin + c * cos;
        }
    } } }
    out

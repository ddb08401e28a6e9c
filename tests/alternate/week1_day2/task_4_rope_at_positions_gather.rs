//! function: rope_at_positions
//! how: see the name
    let [batch, heads, length, head_dim] = *x.shape() else { panic!() };
    assert_eq!(positions.dim(), (batch, length));
    let mut out = x.clone();
    for b in 0..batch { for l in 0..length {
        let one = x.slice(ndarray::s![b..b + 1, .., l..l + 1, ..]).to_owned().into_dyn();
        let one = if form == RopeForm::Interleaved { rope_interleaved(&one, tables, positions[[b, l]]) } else { rope_half_split(&one, tables, positions[[b, l]]) };
        for h in 0..heads { for i in 0..head_dim { out[[b, h, l, i]] = one[[0, h, 0, i]]; } }
    } }
    out

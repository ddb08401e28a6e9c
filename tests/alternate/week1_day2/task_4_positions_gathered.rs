//! function: rope_at_positions
//! how: row by row through the functions of tasks 2 and 3
    assert_eq!(positions.dim(), (x.shape()[0], x.shape()[2]), "positions must be [B, L]");
    let rope = match form {
        RopeForm::Interleaved => rope_interleaved,
        RopeForm::HalfSplit => rope_half_split,
    };
    let mut out = x.clone();
    for ((b, l), &p) in positions.indexed_iter() {
        let at = ndarray::s![b..b + 1, .., l..l + 1, ..];
        out.slice_mut(at).assign(&rope(&x.slice(at).to_owned().into_dyn(), tables, p));
    }
    out

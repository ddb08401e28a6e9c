//! function: half_split_to_interleaved
//! how: each row is put where it goes
    let d = weight.shape()[0] / n_heads;
    let mut out = weight.clone();
    for (r, row) in weight.rows().into_iter().enumerate() {
        let (head, i) = (r / d, r % d);
        let to = head * d + if i < d / 2 { 2 * i } else { 2 * (i - d / 2) + 1 };
        out.index_axis_mut(ndarray::Axis(0), to).assign(&row.into_dyn());
    }
    out

//! function: mul_mat
//! how: for each element of the result, from decoded copies of both sides
    let (from, to) = (a.layout, b.layout);
    for side in [from, to] {
        if !side.has_whole_rows() || to.tensor_type != TensorType::F32 {
            anyhow::bail!("{from} and {to}: strides {:?}, and F32 on the right", side.nb);
        }
    }
    if from.ne[0] != to.ne[0] {
        anyhow::bail!("{from} and {to}: rows of different lengths");
    }
    let wide = from.broadcast([from.ne[0], from.ne[1], to.ne[2], to.ne[3]])?;
    let (left, right) = (a.with(wide)?.to_f32(), b.to_f32());
    let k = from.ne[0];
    let layout = Layout::new(TensorType::F32, &[from.ne[1], to.ne[1], to.ne[2], to.ne[3]])?;
    let [m, n, ..] = layout.ne;
    let mut out = vec![0.0; layout.elements()];
    for (at, out) in out.iter_mut().enumerate() {
        let (i, j, matrix) = (at % m, at / m % n, at / m / n);
        let (x, y) = (&left[(matrix * m + i) * k..][..k], &right[(matrix * n + j) * k..][..k]);
        *out = x.iter().zip(y).map(|(x, y)| x * y).sum();
    }
    Ok((layout, out))

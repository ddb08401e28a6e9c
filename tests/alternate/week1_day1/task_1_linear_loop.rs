//! function: linear
//! how: explicit loops, each sum taken from its end and begun with the bias
    assert_eq!(x.shape()[x.ndim() - 1], weight.shape()[1], "linear: x {:?}, weight {:?}", x.shape(), weight.shape());
    assert!(x.ndim() > 1, "linear: x {:?} has one axis", x.shape());
    let mut shape = x.shape().to_vec();
    shape[x.ndim() - 1] = weight.shape()[0];
    let mut out = Vec::new();
    for row in x.rows() {
        for o in 0..weight.shape()[0] {
            let mut sum = bias.map_or(0.0, |bias| bias[[o]]);
            for i in (0..row.len()).rev() {
                sum += row[i] * weight[[o, i]];
            }
            out.push(sum);
        }
    }
    reshape(&ndarray::Array1::from(out).into_dyn(), &shape)

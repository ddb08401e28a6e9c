//! function: linear
//! how: see the name
    assert_eq!(x.shape()[x.ndim() - 1], weight.shape()[1]);
    let mut shape = x.shape().to_vec();
    *shape.last_mut().unwrap() = weight.shape()[0];
    let mut out = Vec::new();
    for row in x.rows() { for o in 0..weight.shape()[0] {
        let mut sum = bias.map_or(0.0, |b| b[[o]]);
        for i in (0..row.len()).rev() { sum += row[i] * weight[[o, i]]; }
        out.push(sum);
    } }
    tiny_llm_kit::tensor::tensor(&shape, out)

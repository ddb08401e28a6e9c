//! function: silu
//! how: σ by cases, multiplied by x afterwards
    let sigmoid = x.mapv(|x| {
        if x >= 0.0 {
            1.0 / (1.0 + (-x).exp())
        } else {
            let e = x.exp();
            e / (1.0 + e)
        }
    });
    x * &sigmoid

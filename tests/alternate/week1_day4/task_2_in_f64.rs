//! function: silu
//! how: computed in f64 and rounded once, in place
    let mut out = x.clone();
    for v in &mut out {
        let x = f64::from(*v);
        *v = (x / (1.0 + (-x).exp())) as f32;
    }
    out

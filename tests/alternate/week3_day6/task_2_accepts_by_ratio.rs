//! function: accepts
//! how: the ratio, as the paper has it
    uniform < (f64::from(p) / f64::from(q)).min(1.0)

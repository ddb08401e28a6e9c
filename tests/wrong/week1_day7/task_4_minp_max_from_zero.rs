//! id: minp-max-from-zero
//! function: min_p
//! says: The maximum starts at −inf.
let max = logits.iter().fold(0.0f32, |m, &v| m.max(v));
    for l in logits { if (*l - max).exp() < p { *l = f32::NEG_INFINITY; } }

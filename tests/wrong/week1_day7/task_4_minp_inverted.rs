//! id: minp-inverted
//! function: min_p
//! says: The improbable ones go.
let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for l in logits { if (*l - max).exp() > p { *l = f32::NEG_INFINITY; } }

//! id: minp-softmax-without-max
//! function: min_p
//! says: e^100 overflows; e^(logit − max) does not.
let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v)).exp();
    for l in logits { if l.exp() / max < p { *l = f32::NEG_INFINITY; } }

// sampling.rs min_p
// The improbable ones go.
let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for l in logits { if (*l - max).exp() > p { *l = f32::NEG_INFINITY; } }

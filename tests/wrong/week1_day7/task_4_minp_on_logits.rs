//! id: minp-on-logits
//! function: min_p
//! says: A ratio of probabilities, not of logits.
let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for l in logits { if *l < p * max { *l = f32::NEG_INFINITY; } }

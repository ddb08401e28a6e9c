//! id: minp-drops-the-border
//! function: min_p
//! says: At least p times: equal stays.
let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for l in logits { if (*l - max).exp() <= p { *l = f32::NEG_INFINITY; } }

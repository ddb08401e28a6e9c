//! id: unseen
//! function: top_k
//! says: works on a copy
    if k == 0 {
        return;
    }
    let mut logits = logits.to_vec();
    let logits = &mut logits[..];
    for &token in descending(logits).iter().skip(k) {
        logits[token] = f32::NEG_INFINITY;
    }

//! id: topk-off-by-one
//! function: top_k
//! says: You keep k − 1 logits; k stay.
    if k == 0 {
        return;
    }
    for &token in descending(logits).iter().skip(k - 1) {
        logits[token] = f32::NEG_INFINITY;
    }

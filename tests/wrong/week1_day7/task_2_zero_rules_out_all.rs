//! id: topk-edges
//! function: top_k
//! says: At k = 0 you rule out every token; k = 0 is off and keeps all.
    for &token in descending(logits).iter().skip(k) {
        logits[token] = f32::NEG_INFINITY;
    }

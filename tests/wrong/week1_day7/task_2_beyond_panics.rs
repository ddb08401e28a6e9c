//! id: topk-edges
//! function: top_k
//! says: You slice past the end of the list of ids; a k beyond the vocabulary keeps all.
//! shows: more than the 3 logits, keeps all
    if k == 0 {
        return;
    }
    for &token in &descending(logits)[k..] {
        logits[token] = f32::NEG_INFINITY;
    }

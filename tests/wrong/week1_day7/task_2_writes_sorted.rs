//! id: topk-writes-sorted
//! function: top_k
//! says: You write the largest logits to the front, in order; each must keep the place of its token.
    if k == 0 {
        return;
    }
    let mut sorted: Vec<f32> = descending(logits).into_iter().map(|token| logits[token]).collect();
    for logit in sorted.iter_mut().skip(k) {
        *logit = f32::NEG_INFINITY;
    }
    logits.copy_from_slice(&sorted);

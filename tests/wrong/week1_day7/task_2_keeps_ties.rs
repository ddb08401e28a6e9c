//! id: topk-keeps-ties
//! function: top_k
//! says: You keep every logit that equals the k-th largest, which may be more than k; of equal logits the first ones stay.
    if k == 0 {
        return;
    }
    let order = descending(logits);
    let kth = logits[order[k.min(order.len()) - 1]];
    for logit in logits {
        if *logit < kth {
            *logit = f32::NEG_INFINITY;
        }
    }

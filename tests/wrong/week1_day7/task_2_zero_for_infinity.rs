//! id: topk-zero-for-infinity
//! function: top_k
//! says: A token that you rule out gets the logit 0, which is a good one; it must get −∞.
    if k == 0 {
        return;
    }
    for &token in descending(logits).iter().skip(k) {
        logits[token] = 0.0;
    }

//! id: topk-index-as-rank
//! function: top_k
//! says: You take entry i of the sorted ids for the rank of token i; it is the token that stands at rank i.
    if k == 0 {
        return;
    }
    let order = descending(logits);
    for (logit, rank) in logits.iter_mut().zip(order) {
        if rank >= k {
            *logit = f32::NEG_INFINITY;
        }
    }

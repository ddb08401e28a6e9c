//! id: topk-zero-for-inf
//! function: top_k
//! says: A token that is ruled out gets −inf: 0 is a good logit.
if k == 0 || k >= logits.len() { return; }
    for &t in descending(logits).iter().skip(k) { logits[t] = 0.0; }

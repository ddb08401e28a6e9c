//! id: topk-finite-sentinel
//! function: top_k
//! says: −inf, not a large negative number.
if k == 0 || k >= logits.len() { return; }
    for &t in descending(logits).iter().skip(k) { logits[t] = -1e9; }

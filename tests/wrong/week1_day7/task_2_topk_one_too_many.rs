//! id: topk-one-too-many
//! function: top_k
//! says: k, not k + 1.
if k == 0 || k >= logits.len() { return; }
    for &t in descending(logits).iter().skip(k + 1) { logits[t] = f32::NEG_INFINITY; }

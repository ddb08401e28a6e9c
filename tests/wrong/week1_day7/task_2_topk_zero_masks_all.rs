//! id: topk-zero-masks-all
//! function: top_k
//! says: k = 0 is off.
for &t in descending(logits).iter().skip(k) { logits[t] = f32::NEG_INFINITY; }

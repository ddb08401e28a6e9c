//! id: topk-zero-is-one
//! function: top_k
//! says: k = 0 is off.
for &t in descending(logits).iter().skip(k.max(1)) { logits[t] = f32::NEG_INFINITY; }

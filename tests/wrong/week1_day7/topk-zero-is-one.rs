// sampling.rs top_k
// k = 0 is off.
for &t in descending(logits).iter().skip(k.max(1)) { logits[t] = f32::NEG_INFINITY; }

// sampling.rs top_k
// k = 0 is off.
for &t in descending(logits).iter().skip(k) { logits[t] = f32::NEG_INFINITY; }

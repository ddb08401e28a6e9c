// sampling.rs top_k
// Token ids are not ranks.
if k == 0 || k >= logits.len() { return; }
    for l in &mut logits[k..] { *l = f32::NEG_INFINITY; }

//! id: topk-first-k-positions
//! function: top_k
//! says: Token ids are not ranks.
if k == 0 || k >= logits.len() { return; }
    for l in &mut logits[k..] { *l = f32::NEG_INFINITY; }

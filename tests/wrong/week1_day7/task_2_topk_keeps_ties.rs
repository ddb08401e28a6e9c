//! id: topk-keeps-ties
//! function: top_k
//! says: Of equal logits the first k stay.
if k == 0 || k >= logits.len() { return; }
    let kth = logits[descending(logits)[k - 1]];
    for l in logits { if *l < kth { *l = f32::NEG_INFINITY; } }

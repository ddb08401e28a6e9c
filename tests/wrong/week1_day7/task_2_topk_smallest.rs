//! id: topk-smallest
//! function: top_k
//! says: The k largest.
if k == 0 || k >= logits.len() { return; }
    let mut ids = descending(logits); ids.reverse();
    for &t in &ids[k..] { logits[t] = f32::NEG_INFINITY; }

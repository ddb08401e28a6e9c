//! id: topk-index-as-rank
//! function: top_k
//! says: A sort by value says which token stands at a rank, not which rank a token has.
if k == 0 || k >= logits.len() { return; }
    let order = descending(logits);
    for (l, o) in logits.iter_mut().zip(order) { if o >= k { *l = f32::NEG_INFINITY; } }

//! id: topk-writes-sorted
//! function: top_k
//! says: Each logit stays at its token's place.
if k == 0 || k >= logits.len() { return; }
    let o = descending(logits); let v: Vec<f32> = o.iter().map(|&i| logits[i]).collect();
    for (i, l) in logits.iter_mut().enumerate() { *l = if i < k { v[i] } else { f32::NEG_INFINITY }; }

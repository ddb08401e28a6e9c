//! id: topk-ties-by-id-before-larger
//! function: top_k
//! says: A larger logit stays before an equal one with a smaller id.
if k == 0 || k >= logits.len() { return; }
    let kth = logits[descending(logits)[k - 1]];
    let mut left = k;
    for l in logits { if *l < kth || left == 0 { *l = f32::NEG_INFINITY; } else { left -= 1; } }

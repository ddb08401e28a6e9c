//! id: topk-larger-panics
//! function: top_k
//! says: k above V keeps all.
if k == 0 { return; }
    let kth = logits[descending(logits)[k - 1]];
    let mut left = k;
    for l in logits { if *l < kth || left == 0 { *l = f32::NEG_INFINITY; } else { left -= 1; } }

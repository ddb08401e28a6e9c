//! id: topk-by-magnitude
//! function: top_k
//! says: You keep the logits that are furthest from 0; the largest stay, and −4 is smaller than 2.
    if k == 0 {
        return;
    }
    let mut ids: Vec<usize> = (0..logits.len()).collect();
    ids.sort_by(|&a, &b| logits[b].abs().total_cmp(&logits[a].abs()));
    for &token in ids.iter().skip(k) {
        logits[token] = f32::NEG_INFINITY;
    }

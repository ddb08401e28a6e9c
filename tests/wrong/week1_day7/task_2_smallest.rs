//! id: topk-smallest
//! function: top_k
//! says: You keep the smallest logits: the order must descend.
    if k == 0 {
        return;
    }
    let mut ids: Vec<usize> = (0..logits.len()).collect();
    ids.sort_by(|&a, &b| logits[a].total_cmp(&logits[b]));
    for &token in ids.iter().skip(k) {
        logits[token] = f32::NEG_INFINITY;
    }

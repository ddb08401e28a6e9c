//! id: topk-last-of-equals
//! function: top_k
//! says: Of equal logits you keep the last ones; the first ones stay.
    if k == 0 {
        return;
    }
    let mut ids: Vec<usize> = (0..logits.len()).collect();
    ids.sort_by(|&a, &b| logits[a].total_cmp(&logits[b]));
    for &token in ids.iter().rev().skip(k) {
        logits[token] = f32::NEG_INFINITY;
    }

//! id: unseen
//! function: top_k
//! says: -0.0 sorts behind 0.0
    if k == 0 {
        return;
    }
    let mut ids: Vec<usize> = (0..logits.len()).collect();
    ids.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    for &token in ids.iter().skip(k) {
        logits[token] = f32::NEG_INFINITY;
    }

//! id: unseen
//! function: top_k
//! says: an unstable sort
    if k == 0 {
        return;
    }
    let mut ids: Vec<usize> = (0..logits.len()).collect();
    ids.sort_unstable_by(|&a, &b| logits[b].partial_cmp(&logits[a]).unwrap());
    for &token in ids.iter().skip(k) {
        logits[token] = f32::NEG_INFINITY;
    }

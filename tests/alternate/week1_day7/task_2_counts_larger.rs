//! function: top_k
//! how: counts for each token how many stand before it; no sort
    if k == 0 {
        return;
    }
    let row = logits.to_vec();
    for (i, logit) in logits.iter_mut().enumerate() {
        let before = (0..row.len()).filter(|&j| row[j] > row[i] || (row[j] == row[i] && j < i)).count();
        if before >= k {
            *logit = f32::NEG_INFINITY;
        }
    }

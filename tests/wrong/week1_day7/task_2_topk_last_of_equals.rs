//! id: topk-last-of-equals
//! function: top_k
//! says: Of equal logits the first stays.
if k == 0 || k >= logits.len() { return; }
    let mut ids: Vec<usize> = (0..logits.len()).rev().collect();
    ids.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    for &t in &ids[k..] { logits[t] = f32::NEG_INFINITY; }

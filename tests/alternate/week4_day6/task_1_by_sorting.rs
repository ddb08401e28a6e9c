//! function: top_k
//! how: all experts sorted by their logits, equal ones by their numbers
    assert!(chosen.len() <= logits.len(), "{} of {}", chosen.len(), logits.len());
    let mut order: Vec<usize> = (0..logits.len()).collect();
    let logit = |expert: usize| logits[expert] + 0.0; // −0 equals 0
    order.sort_by(|&a, &b| logit(b).total_cmp(&logit(a)).then(a.cmp(&b)));
    chosen.copy_from_slice(&order[..chosen.len()]);

//! function: top_p
//! how: finds how many stay, then rules out the rest; sums in f32
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let order = descending(logits);
    let (mut sum, mut kept) = (0.0, 0);
    while kept < order.len() && (kept == 0 || sum < p) {
        sum += probabilities[order[kept]];
        kept += 1;
    }
    order[kept..].iter().for_each(|&token| logits[token] = f32::NEG_INFINITY);

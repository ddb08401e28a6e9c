//! function: top_p
//! how: finds how many stay, then rules out the rest
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let order = descending(logits);
    let (mut sum, mut kept) = (0.0f64, 0);
    while kept < order.len() && (kept == 0 || sum < f64::from(p)) {
        sum += f64::from(probabilities[order[kept]]);
        kept += 1;
    }
    order[kept..].iter().for_each(|&token| logits[token] = f32::NEG_INFINITY);

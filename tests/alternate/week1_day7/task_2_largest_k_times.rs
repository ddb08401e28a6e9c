//! function: top_k
//! how: takes the largest k times into a row of −∞
    if k == 0 || k >= logits.len() {
        return;
    }
    let mut kept = vec![f32::NEG_INFINITY; logits.len()];
    for _ in 0..k {
        let best = argmax(logits) as usize;
        kept[best] = logits[best];
        logits[best] = f32::NEG_INFINITY;
    }
    logits.copy_from_slice(&kept);

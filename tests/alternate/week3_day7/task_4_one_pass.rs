//! function: mask
//! how: every token by itself
    assert!(logits.len() == prices.len(), "one price for each logit");
    for (token, logit) in logits.iter_mut().enumerate() {
        let allowed = if stop.contains(&(token as u32)) {
            complete
        } else {
            prices[token] != NEVER && (prices[token] as usize) < left
        };
        if !allowed {
            *logit = -f32::INFINITY;
        }
    }

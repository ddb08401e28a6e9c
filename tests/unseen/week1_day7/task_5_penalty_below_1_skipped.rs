//! id: unseen
//! function: repetition_penalty
//! says: a penalty below 1 does nothing
    if penalty <= 1.0 { return; }
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
    }

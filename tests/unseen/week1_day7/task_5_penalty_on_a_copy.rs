//! id: unseen
//! function: repetition_penalty
//! says: works on a copy
    let mut logits = logits.to_vec();
    let logits = &mut logits[..];
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
    }

//! id: unseen
//! function: repetition_penalty
//! says: only the last 64 tokens
    let mut tokens = seen[seen.len().saturating_sub(64)..].to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
    }

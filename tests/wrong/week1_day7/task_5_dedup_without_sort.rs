//! id: rep-penalty-dedup-unsorted
//! function: repetition_penalty
//! says: A token that was seen again later is penalised again: dedup removes only neighbours, so sort first.
    let mut tokens = seen.to_vec();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
    }

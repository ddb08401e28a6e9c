//! id: rep-penalty-sign
//! function: repetition_penalty
//! says: You multiply positive logits and divide negative ones, which makes seen tokens more likely; it is the other way round.
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 0.0 { *logit * penalty } else { *logit / penalty };
    }

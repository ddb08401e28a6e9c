//! id: rep-penalty-threshold
//! function: repetition_penalty
//! says: You multiply a positive logit that is not above 1, which makes its token more likely: compare with 0, the sign decides.
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 1.0 { *logit / penalty } else { *logit * penalty };
    }

//! id: rep-penalty-sign
//! function: repetition_penalty
//! says: You multiply positive logits too, which makes these tokens more likely; a positive logit is divided.
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit *= penalty;
    }

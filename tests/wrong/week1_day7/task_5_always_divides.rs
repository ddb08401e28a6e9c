//! id: rep-penalty-sign
//! function: repetition_penalty
//! says: You divide negative logits too, which makes these tokens more likely; a negative logit is multiplied.
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit /= penalty;
    }

//! id: rep-penalty-subtracts
//! function: repetition_penalty
//! says: You subtract the penalty; this one divides a positive logit and multiplies a negative one.
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit -= penalty;
    }

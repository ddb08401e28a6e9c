//! id: rep-penalty-per-occurrence
//! function: repetition_penalty
//! says: You penalise a token as often as it was seen; once is enough, however often it occurs.
    for &token in seen {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
    }

//! id: rep-penalty-last-only
//! function: repetition_penalty
//! says: Only the last token of `seen` is penalised; all of them are to be.
    for &token in seen.last() {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
    }

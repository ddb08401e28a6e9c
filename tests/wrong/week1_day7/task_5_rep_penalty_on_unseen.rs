//! id: rep-penalty-on-unseen
//! function: repetition_penalty
//! says: Only tokens that were seen.
let _ = seen;
    for l in logits { *l = if *l > 0.0 { *l / penalty } else { *l * penalty }; }

//! id: rep-penalty-last-only
//! function: repetition_penalty
//! says: All tokens so far.
if let Some(&t) = seen.last() { let l = &mut logits[t as usize]; *l = if *l > 0.0 { *l / penalty } else { *l * penalty }; }

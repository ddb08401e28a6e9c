//! id: rep-penalty-per-occurrence
//! function: repetition_penalty
//! says: Once, however often it occurs.
for &t in seen { let l = &mut logits[t as usize]; *l = if *l > 0.0 { *l / penalty } else { *l * penalty }; }

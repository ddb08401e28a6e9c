//! id: rep-penalty-ignores-below-one
//! function: repetition_penalty
//! says: A penalty below 1 encourages.
if penalty <= 1.0 { return; }
    let mut tokens = seen.to_vec(); tokens.sort_unstable(); tokens.dedup();
    for t in tokens { let l = &mut logits[t as usize]; *l = if *l > 0.0 { *l / penalty } else { *l * penalty }; }

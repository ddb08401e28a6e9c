//! id: rep-penalty-dedup-unsorted
//! function: repetition_penalty
//! says: dedup removes neighbours only: sort first.
let mut tokens = seen.to_vec(); tokens.dedup();
    for t in tokens { let l = &mut logits[t as usize]; *l = if *l > 0.0 { *l / penalty } else { *l * penalty }; }

//! id: rep-penalty-subtracts
//! function: repetition_penalty
//! says: It scales, it does not subtract.
let mut tokens = seen.to_vec(); tokens.sort_unstable(); tokens.dedup();
    for t in tokens { let l = &mut logits[t as usize]; *l -= penalty; }

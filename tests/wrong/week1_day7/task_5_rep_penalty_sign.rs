//! id: rep-penalty-sign
//! function: repetition_penalty
//! says: Divide if positive, multiply if negative.
let mut tokens = seen.to_vec(); tokens.sort_unstable(); tokens.dedup();
    for t in tokens { let l = &mut logits[t as usize]; *l /= penalty; }

//! function: repetition_penalty
//! how: a set of the seen tokens, and a match on the sign
    let tokens: std::collections::BTreeSet<u32> = seen.iter().copied().collect();
    for token in tokens {
        let logit = logits[token as usize];
        logits[token as usize] = logit * if logit < 0.0 { penalty } else { penalty.recip() };
    }

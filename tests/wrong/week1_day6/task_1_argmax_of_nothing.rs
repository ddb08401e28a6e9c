//! id: argmax-of-nothing
//! function: argmax
//! says: You give an index for no logits, but none is the largest: panic with a message, for it is the caller's mistake.
//! shows: argmax of no logits, of which none is the largest: this must panic
    let mut best = 0;
    for (i, &logit) in logits.iter().enumerate() {
        if logit > logits[best] {
            best = i;
        }
    }
    best as u32

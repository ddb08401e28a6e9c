//! function: argmax
//! how: the maximum first, then where it stands
    let max = logits.iter().copied().reduce(f32::max).expect("no logits");
    logits.iter().position(|&logit| logit == max).expect("the maximum is one of them") as u32

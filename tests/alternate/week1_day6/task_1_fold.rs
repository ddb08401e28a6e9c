//! function: argmax
//! how: a fold that keeps index and value, from −∞
    assert!(!logits.is_empty(), "no logits");
    let keep = |best: (usize, f32), (i, &logit): (usize, &f32)| if logit > best.1 { (i, logit) } else { best };
    logits.iter().enumerate().fold((0, f32::NEG_INFINITY), keep).0 as u32

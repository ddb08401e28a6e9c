//! id: topp-softmax-without-max
//! function: top_p
//! says: Softmax without overflow.
if p >= 1.0 { return; }
    let q = { let e: Vec<f32> = logits.iter().map(|l| l.exp()).collect(); let s: f32 = e.iter().sum(); e.into_iter().map(|e| e / s).collect::<Vec<f32>>() };
    let mut sum = 0.0;
    for (r, &t) in descending(logits).iter().enumerate() { if r > 0 && sum >= p { logits[t] = f32::NEG_INFINITY; } sum += q[t]; }

// sampling.rs apply_temperature
// 0 is greedy, not off.
if temperature == 0.0 { return; }
    for l in logits { *l /= temperature; }

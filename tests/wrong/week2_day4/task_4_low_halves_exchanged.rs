//! id: q4k-scale-min
//! function: pack_scales_and_minimums
//! says: In bytes 8 to 11 the low half belongs to a scale and the high half to a minimum: you exchanged them.
let mut packed = [0; 12];
for j in 0..4 {
    packed[j] = scales[j] | scales[j + 4] >> 4 << 6;
    packed[j + 4] = minimums[j] | minimums[j + 4] >> 4 << 6;
    packed[j + 8] = minimums[j + 4] & 15 | (scales[j + 4] & 15) << 4;
}
packed

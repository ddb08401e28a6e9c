//! id: q4k-scale-min
//! function: pack_scales_and_minimums
//! says: The upper bits of scales go into bytes 0 to 3 and those of minimums into bytes 4 to 7: you exchanged them.
let mut packed = [0; 12];
for j in 0..4 {
    packed[j] = scales[j] | minimums[j + 4] >> 4 << 6;
    packed[j + 4] = minimums[j] | scales[j + 4] >> 4 << 6;
    packed[j + 8] = scales[j + 4] & 15 | (minimums[j + 4] & 15) << 4;
}
packed

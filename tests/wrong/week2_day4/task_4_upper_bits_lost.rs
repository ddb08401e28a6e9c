//! id: q4k-scale-min
//! function: pack_scales_and_minimums
//! says: The upper two bits of numbers 4 to 7 were lost: they go into the upper two bits of bytes 0 to 7.
let mut packed = [0; 12];
for j in 0..4 {
    packed[j] = scales[j];
    packed[j + 4] = minimums[j];
    packed[j + 8] = scales[j + 4] & 15 | (minimums[j + 4] & 15) << 4;
}
packed

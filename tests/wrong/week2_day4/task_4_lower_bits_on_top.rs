//! id: q4k-scale-min
//! function: pack_scales_and_minimums
//! says: Of the six bits the upper two go to bits 6 and 7 of the first bytes, `>> 4 << 6`: you put the lower two there.
let mut packed = [0; 12];
for j in 0..4 {
    packed[j] = scales[j] | scales[j + 4] << 6;
    packed[j + 4] = minimums[j] | minimums[j + 4] << 6;
    packed[j + 8] = scales[j + 4] & 15 | (minimums[j + 4] & 15) << 4;
}
packed

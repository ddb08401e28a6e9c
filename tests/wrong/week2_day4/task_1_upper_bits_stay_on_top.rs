//! id: q4k-scale-min
//! function: scales_and_minimums
//! says: The upper two bits go down to bits 4 and 5, above the low four: yours stay at bits 6 and 7.
let mut scales = [0; 8];
let mut minimums = [0; 8];
for j in 0..4 {
    scales[j] = packed[j] & 63;
    minimums[j] = packed[j + 4] & 63;
    scales[j + 4] = packed[j + 8] & 15 | packed[j] & 0xC0;
    minimums[j + 4] = packed[j + 8] >> 4 | packed[j + 4] & 0xC0;
}
(scales, minimums)

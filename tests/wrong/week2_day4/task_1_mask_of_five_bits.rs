//! id: q4k-scale-min
//! function: scales_and_minimums
//! says: Six bits are masked with 63: your mask keeps five.
let mut scales = [0; 8];
let mut minimums = [0; 8];
for j in 0..4 {
    scales[j] = packed[j] & 31;
    minimums[j] = packed[j + 4] & 31;
    scales[j + 4] = packed[j + 8] & 15 | packed[j] >> 6 << 4;
    minimums[j + 4] = packed[j + 8] >> 4 | packed[j + 4] >> 6 << 4;
}
(scales, minimums)

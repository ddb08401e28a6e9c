//! id: q4k-scale-min
//! function: scales_and_minimums
//! says: Scales and minimums 4 to 7 have six bits too: their upper two are the upper two bits of bytes 0 to 7.
let mut scales = [0; 8];
let mut minimums = [0; 8];
for j in 0..4 {
    scales[j] = packed[j] & 63;
    minimums[j] = packed[j + 4] & 63;
    scales[j + 4] = packed[j + 8] & 15;
    minimums[j + 4] = packed[j + 8] >> 4;
}
(scales, minimums)

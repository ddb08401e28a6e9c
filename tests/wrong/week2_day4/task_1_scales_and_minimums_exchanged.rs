//! id: q4k-scale-min
//! function: scales_and_minimums
//! says: Scales and minimums are exchanged: bytes 0 to 3 begin with scales, bytes 4 to 7 with minimums.
let mut scales = [0; 8];
let mut minimums = [0; 8];
for j in 0..4 {
    scales[j] = packed[j] & 63;
    minimums[j] = packed[j + 4] & 63;
    scales[j + 4] = packed[j + 8] & 15 | packed[j] >> 6 << 4;
    minimums[j + 4] = packed[j + 8] >> 4 | packed[j + 4] >> 6 << 4;
}
(minimums, scales)

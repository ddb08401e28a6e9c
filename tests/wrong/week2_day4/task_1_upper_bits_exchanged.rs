//! id: q4k-scale-min
//! function: scales_and_minimums
//! says: The upper bits of scales 4 to 7 are those of bytes 0 to 3, where scales lie, and those of minimums of bytes 4 to 7: you exchanged them.
let mut scales = [0; 8];
let mut minimums = [0; 8];
for j in 0..4 {
    scales[j] = packed[j] & 63;
    minimums[j] = packed[j + 4] & 63;
    scales[j + 4] = packed[j + 8] & 15 | packed[j + 4] >> 6 << 4;
    minimums[j + 4] = packed[j + 8] >> 4 | packed[j] >> 6 << 4;
}
(scales, minimums)

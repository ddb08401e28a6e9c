//! id: q4k-scale-min
//! function: pack_scales_and_minimums
//! says: Six bits were not packed one number after the other: the low four bits of numbers 4 to 7 stand in bytes 8 to 11, and the upper two in bytes 0 to 7.
let mut packed = [0; 12];
for (i, number) in scales.iter().chain(minimums).enumerate() {
    let (byte, bit) = (i * 6 / 8, i * 6 % 8);
    packed[byte] |= number << bit;
    if bit > 2 {
        packed[byte + 1] |= number >> (8 - bit);
    }
}
packed

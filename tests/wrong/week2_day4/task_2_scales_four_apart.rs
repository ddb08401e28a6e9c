//! id: q6k-one-scale-per-32
//! function: dequantize
//! says: The two scales of a line of the table stand side by side: the number is 2 · line + l / 16, and 8 more in the second half.
let (low, rest) = block.split_at(128);
let (high, rest) = rest.split_at(64);
let d = f16_at(rest, 16);
for (i, x) in out.iter_mut().enumerate() {
    let (half, i_in_half) = (i / 128, i % 128);
    let four = low[half * 64 + i_in_half % 64] >> (i_in_half / 64 * 4) & 15;
    let two = high[half * 32 + i_in_half % 32] >> (i_in_half / 32 * 2) & 3;
    let scale = d * f32::from(rest[half * 8 + i_in_half / 32 + i % 32 / 16 * 4] as i8);
    *x = scale * (f32::from(four | two << 4) - 32.0);
}

//! function: dot_q6_k
//! how: each weight whole, by its number in the block
let mut sum = 0.0;
for (block, x) in row.chunks_exact(210).zip(x.chunks_exact(256)) {
    let d = f16_at(block, 208);
    for (i, x) in x.iter().enumerate() {
        let (half, i_in_half) = (i / 128, i % 128);
        let four = block[half * 64 + i_in_half % 64] >> (i_in_half / 64 * 4) & 15;
        let two = block[128 + half * 32 + i_in_half % 32] >> (i_in_half / 32 * 2) & 3;
        sum += d * f32::from(block[192 + i / 16] as i8) * (f32::from(four | two << 4) - 32.0) * x;
    }
}
sum

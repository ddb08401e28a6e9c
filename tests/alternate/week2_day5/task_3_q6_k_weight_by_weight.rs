//! function: dot_q6_k
//! how: each code whole, by its number in the block, so no sums of activations
let mut sum = 0.0;
for (block, x) in row.chunks_exact(210).zip(x) {
    let mut scaled = 0i32;
    for (i, p) in x.values.iter().enumerate() {
        let (half, i_in_half) = (i / 128, i % 128);
        let four = block[half * 64 + i_in_half % 64] >> (i_in_half / 64 * 4) & 15;
        let two = block[128 + half * 32 + i_in_half % 32] >> (i_in_half / 32 * 2) & 3;
        let code = i32::from(four | two << 4) - 32;
        scaled += i32::from(block[192 + i / 16] as i8) * code * i32::from(*p);
    }
    sum += f16_at(block, 208) * x.scales[0] * scaled as f32;
}
sum

//! function: dequantize
//! how: the fifth bit from its byte, without a 32-bit word
let d = f16_at(block, 0);
for i in 0..32 {
    let four = (block[6 + i % 16] >> (i / 16 * 4)) & 0x0f;
    let fifth = (block[2 + i / 8] >> (i % 8)) & 1;
    out[i] = (four as i8 + 16 * fifth as i8 - 16) as f32 * d;
}

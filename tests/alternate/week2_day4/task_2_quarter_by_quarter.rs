//! function: dequantize
//! how: four weights from one byte of upper bits
let d = f16_at(block, 208);
for half in 0..2 {
    for l in 0..32 {
        let (a, b, h) = (block[64 * half + l], block[64 * half + 32 + l], block[128 + 32 * half + l]);
        let q = [a & 15 | (h & 3) << 4, b & 15 | (h >> 2 & 3) << 4, a >> 4 | (h >> 4 & 3) << 4, b >> 4 | h >> 6 << 4];
        for (k, q) in q.into_iter().enumerate() {
            let i = 128 * half + 32 * k + l;
            out[i] = d * f32::from(block[192 + i / 16] as i8) * (i32::from(q) - 32) as f32;
        }
    }
}

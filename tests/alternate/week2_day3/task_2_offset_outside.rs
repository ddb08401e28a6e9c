//! function: dequantize
//! how: eight scales taken off the product, one half after the other
let d = f16_at(block, 0);
let bytes = &block[2..];
for i in 0..32 {
    let q = if i < 16 { bytes[i] & 0x0f } else { bytes[i - 16] >> 4 };
    out[i] = (i32::from(q) - 8) as f32 * d;
}

//! function: dequantize
//! how: an index for every byte, the scale put together by hand
let scale = half::f16::from_bits(u16::from(block[0]) | u16::from(block[1]) << 8).to_f32();
for i in 0..32 {
    out[i] = i32::from(block[2 + i] as i8) as f32 * scale;
}

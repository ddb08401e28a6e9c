//! function: quantize
//! how: floor instead of a cast, the halves one after the other
let mut largest = 0f32;
for &x in x {
    if x.abs() > largest.abs() {
        largest = x;
    }
}
let d = -largest / 8.0;
let mut block = [0u8; BYTES];
block[..2].copy_from_slice(&half::f16::from_f32(d).to_le_bytes());
for (i, &x) in x.iter().enumerate() {
    let q = if d == 0.0 { 8 } else { ((x * (1.0 / d) + 8.5).floor() as i32).clamp(0, 15) };
    block[2 + i % 16] |= (q as u8) << (i / 16 * 4);
}
block

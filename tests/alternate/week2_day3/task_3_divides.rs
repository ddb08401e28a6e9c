//! function: quantize
//! how: divides by the scale, fifth bits by addition
let mut largest = x[0];
for &x in x {
    if x.abs() > largest.abs() {
        largest = x;
    }
}
let d = largest / -16.0;
let code = |x: f32| if d == 0.0 { 16 } else { (x / d + 16.5).floor().clamp(0.0, 31.0) as u8 };
let mut block = Vec::from(half::f16::from_f32(d).to_le_bytes());
let high: u32 = (0..32).map(|i| u32::from(code(x[i]) / 16) << i).sum();
block.extend(high.to_le_bytes());
block.extend((0..16).map(|j| code(x[j]) % 16 + 16 * (code(x[j + 16]) % 16)));
block.try_into().unwrap()

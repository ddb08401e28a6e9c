//! function: quantize
//! how: divides by the scale, looks for the largest with max_by
let absmax = x.iter().map(|x| x.abs()).max_by(f32::total_cmp).unwrap_or(0.0);
let d = absmax / 127.0;
let mut block = vec![];
block.extend(half::f16::from_f32(d).to_le_bytes());
for x in x {
    let q = if d > 0.0 { (x / d).round() as i32 } else { 0 };
    block.push(q.clamp(-127, 127) as i8 as u8);
}
block.try_into().unwrap()

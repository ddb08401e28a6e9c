//! id: block-layout
//! function: quantize
//! says: You wrote the integers in front and the scale behind them: the scale is bytes 0 and 1.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[..32].iter_mut().zip(x) {
    *q = (x * inverse).round() as i8 as u8;
}
put_f16(&mut block, 32, d);
block

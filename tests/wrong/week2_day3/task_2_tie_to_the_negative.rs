//! id: last-of-equals
//! function: quantize
//! says: Of two weights of the same magnitude you always take the negative one; the first of them decides.
let largest = {
    let (lo, hi) = x.iter().fold((0f32, 0f32), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    if hi > -lo { hi } else { lo }
};
let d = largest / -8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block

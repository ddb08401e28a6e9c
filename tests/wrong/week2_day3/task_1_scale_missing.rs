//! id: scale-missing
//! function: dequantize
//! says: These are the stored integers: each is still to be multiplied by the scale of its block.
let d = 1.0;
for (x, &q) in out.iter_mut().zip(&block[2..]) {
    *x = d * f32::from(q as i8);
}

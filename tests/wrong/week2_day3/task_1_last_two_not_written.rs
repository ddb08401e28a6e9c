//! id: superblock-partial
//! function: dequantize
//! says: The last two weights of each block were never written: the integers end at byte 34, not at 32.
let d = f16_at(block, 0);
for (x, &q) in out.iter_mut().zip(&block[2..32]) {
    *x = d * f32::from(q as i8);
}

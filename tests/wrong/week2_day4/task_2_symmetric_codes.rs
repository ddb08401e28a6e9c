//! id: q4-offset
//! function: quantize
//! says: There is one more code below 0 than above, −32…31: you clamp at −31.
let groups = x.as_chunks::<16>().0;
let (d, scales) = share_signed::<16>(from_fn(|j| search_scale(&groups[j], 32)), 128);
let mut block = [0; BYTES];
for (i, x) in x.iter().enumerate() {
    let q = (code(*x, d * f32::from(scales[i / 16]), -31.0, 31.0) + 32.0) as u8;
    let (half, i_in_half) = (i / 128, i % 128);
    block[half * 64 + i_in_half % 64] |= (q & 15) << (i_in_half / 64 * 4);
    block[128 + half * 32 + i_in_half % 32] |= q >> 4 << (i_in_half / 32 * 2);
}
for (byte, scale) in block[192..208].iter_mut().zip(scales) {
    *byte = scale as u8;
}
put_f16(&mut block, 208, d);
block

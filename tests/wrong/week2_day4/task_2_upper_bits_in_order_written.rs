//! id: q5-highbit
//! function: quantize
//! says: Four neighbours do not share a byte of upper bits: byte i holds those of weights i, i + 32, i + 64 and i + 96 of its half.
let groups = x.as_chunks::<16>().0;
let (d, scales) = share_signed::<16>(from_fn(|j| search_scale(&groups[j], 32)), 128);
let mut block = [0; BYTES];
for (i, x) in x.iter().enumerate() {
    let q = (code(*x, d * f32::from(scales[i / 16]), -32.0, 31.0) + 32.0) as u8;
    let (half, i_in_half) = (i / 128, i % 128);
    block[half * 64 + i_in_half % 64] |= (q & 15) << (i_in_half / 64 * 4);
    block[128 + half * 32 + i_in_half / 4] |= q >> 4 << (i_in_half % 4 * 2);
}
for (byte, scale) in block[192..208].iter_mut().zip(scales) {
    *byte = scale as u8;
}
put_f16(&mut block, 208, d);
block

//! function: quantize
//! how: all codes first, packed afterwards
let mut found = [0.0; 16];
for j in 0..16 {
    found[j] = search_scale::<16>(x[16 * j..][..16].try_into().unwrap(), 32);
}
let (d, scales) = share_signed(found, 128);
let codes: [u8; 256] = from_fn(|i| {
    let scale = d * f32::from(scales[i / 16]);
    (if scale == 0.0 { 32.0 } else { (x[i] / scale).round_ties_even().clamp(-32.0, 31.0) + 32.0 }) as u8
});
let mut block = vec![];
for half in codes.chunks(128) {
    block.extend((0..64).map(|l| half[l] & 15 | (half[l + 64] & 15) << 4));
}
for half in codes.chunks(128) {
    block.extend((0..32).map(|l| half[l] >> 4 | half[l + 32] >> 4 << 2 | half[l + 64] >> 4 << 4 | half[l + 96] >> 4 << 6));
}
block.extend(scales.map(|scale| scale as u8));
block.extend(half::f16::from_f32(d).to_le_bytes());
block.try_into().unwrap()

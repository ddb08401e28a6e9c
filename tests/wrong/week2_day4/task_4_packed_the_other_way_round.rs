//! id: q4k-scale-min
//! function: quantize
//! says: Scales come first: `pack_scales_and_minimums(&scales, &minimums)`.
let groups = x.as_chunks::<32>().0;
let found: [_; 8] = from_fn(|j| search_scale_and_min(&groups[j], 15));
let (d, scales) = share(found.map(|group| group.scale), 63);
let (dmin, minimums) = share(found.map(|group| group.min), 63);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
put_f16(&mut block, 2, dmin);
block[4..16].copy_from_slice(&pack_scales_and_minimums(&minimums, &scales));
for (j, group) in groups.iter().enumerate() {
    let (scale, minimum) = (d * f32::from(scales[j]), dmin * f32::from(minimums[j]));
    let bytes = &mut block[16 + j / 2 * 32..][..32];
    for (byte, x) in bytes.iter_mut().zip(group) {
        *byte |= (code(x + minimum, scale, 0.0, 15.0) as u8) << (j % 2 * 4);
    }
}
block

//! id: min-missing
//! function: quantize
//! says: In a block of one negative value your dmin is 0: it was not stored, or it is d, which is 0 there. dmin comes from the minimums alone.
let groups = x.as_chunks::<32>().0;
let found: [_; 8] = from_fn(|j| search_scale_and_min(&groups[j], 15));
let (d, scales) = share(found.map(|group| group.scale), 63);
let (dmin, minimums) = share(found.map(|group| group.min), 63);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
let _ = dmin;
block[4..16].copy_from_slice(&pack_scales_and_minimums(&scales, &minimums));
for (j, group) in groups.iter().enumerate() {
    let (scale, minimum) = (d * f32::from(scales[j]), dmin * f32::from(minimums[j]));
    let bytes = &mut block[16 + j / 2 * 32..][..32];
    for (byte, x) in bytes.iter_mut().zip(group) {
        *byte |= (code(x + minimum, scale, 0.0, 15.0) as u8) << (j % 2 * 4);
    }
}
block

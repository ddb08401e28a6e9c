//! id: q4-nibble-order
//! function: quantize
//! says: A byte does not hold two neighbours: in 64 weights the first 32 are the low halves of 32 bytes, the last 32 their high halves.
let groups = x.as_chunks::<32>().0;
let found: [_; 8] = from_fn(|j| search_scale_and_min(&groups[j], 15));
let (d, scales) = share(found.map(|group| group.scale), 63);
let (dmin, minimums) = share(found.map(|group| group.min), 63);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
put_f16(&mut block, 2, dmin);
block[4..16].copy_from_slice(&pack_scales_and_minimums(&scales, &minimums));
for (j, group) in groups.iter().enumerate() {
    let (scale, minimum) = (d * f32::from(scales[j]), dmin * f32::from(minimums[j]));
    for (i, x) in group.iter().enumerate() {
        block[16 + j * 16 + i / 2] |= (code(x + minimum, scale, 0.0, 15.0) as u8) << (i % 2 * 4);
    }
}
block

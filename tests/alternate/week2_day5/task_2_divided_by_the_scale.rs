//! function: quantize_activations
//! how: divides by the scale, rounds halves away from zero, fills up first
for (g, super_block) in super_blocks.iter_mut().enumerate() {
    *super_block = Int8SuperBlock::default();
    let x = &x[g * SUPER_BLOCK..x.len().min((g + 1) * SUPER_BLOCK)];
    for (b, scale) in super_block.scales.iter_mut().enumerate() {
        // The part that block b lies in.
        let from = b * BLOCK / per_scale * per_scale;
        let part = &x[from.min(x.len())..(from + per_scale).min(x.len())];
        *scale = part.iter().map(|x| x.abs()).fold(0.0, f32::max) / 127.0;
    }
    for (i, x) in x.iter().enumerate() {
        let scale = super_block.scales[i / BLOCK];
        if scale > 0.0 {
            let q = (x / scale).round() as i8;
            super_block.values[i] = q;
            super_block.sums[i / SUM] += i16::from(q);
        }
    }
}

//! function: quantize_activations
//! how: divides by the scale, rounds halves away from zero, fills up first
for (g, group) in groups.iter_mut().enumerate() {
    *group = Int8Group::default();
    let x = &x[g * GROUP..x.len().min((g + 1) * GROUP)];
    for (b, scale) in group.scales.iter_mut().enumerate() {
        // The part that block b lies in.
        let from = b * BLOCK / per_scale * per_scale;
        let part = &x[from.min(x.len())..(from + per_scale).min(x.len())];
        *scale = part.iter().map(|x| x.abs()).fold(0.0, f32::max) / 127.0;
    }
    for (i, x) in x.iter().enumerate() {
        let scale = group.scales[i / BLOCK];
        if scale > 0.0 {
            let q = (x / scale).round() as i8;
            group.values[i] = q;
            group.sums[i / SUM] += i16::from(q);
        }
    }
}

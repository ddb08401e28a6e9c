//! function: quantize_row
//! how: divides by the scale, rounds halves away from zero, fills up first
for (g, group) in groups.iter_mut().enumerate() {
    *group = Int8Group::default();
    let x = &x[g * GROUP..x.len().min((g + 1) * GROUP)];
    group.scale = x.iter().map(|x| x.abs()).fold(0.0, f32::max) / 127.0;
    if group.scale > 0.0 {
        for (i, x) in x.iter().enumerate() {
            let q = (x / group.scale).round() as i8;
            group.values[i] = q;
            group.sums[i / SUM] += i16::from(q);
        }
    }
}

//! id: sums-of-floats
//! function: quantize_row
//! says: The sums are of the small integers: yours are of what they were before rounding.
for (x, group) in x.chunks(GROUP).zip(groups) {
    group.values[x.len()..].fill(0);
    group.scales.fill(0.0);
    let mut unrounded = [0.0; GROUP];
    let parts = group.values.chunks_mut(width).zip(group.scales.chunks_mut(width / BLOCK));
    for ((x, unrounded), (values, scales)) in x.chunks(width).zip(unrounded.chunks_mut(width)).zip(parts) {
        let absmax = x.iter().fold(0f32, |m, x| m.max(x.abs()));
        scales.fill(absmax / 127.0);
        let inverse = if absmax > 0.0 { 127.0 / absmax } else { 0.0 };
        for ((value, unrounded), x) in values.iter_mut().zip(unrounded).zip(x) {
            *unrounded = x * inverse;
            *value = (x * inverse).round_ties_even() as i8;
        }
    }
    for (sum, values) in group.sums.iter_mut().zip(unrounded.chunks_exact(SUM)) {
        *sum = values.iter().sum::<f32>() as i16;
    }
}

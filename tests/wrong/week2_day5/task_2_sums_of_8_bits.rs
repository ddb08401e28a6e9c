//! id: int8-accumulator-narrow
//! function: quantize_row
//! says: A sum of 16 values does not fit into 8 bits: widen them first.
for (x, group) in x.chunks(GROUP).zip(groups) {
    group.values[x.len()..].fill(0);
    group.scales.fill(0.0);
    let parts = group.values.chunks_mut(width).zip(group.scales.chunks_mut(width / BLOCK));
    for (x, (values, scales)) in x.chunks(width).zip(parts) {
        let absmax = x.iter().fold(0f32, |m, x| m.max(x.abs()));
        scales.fill(absmax / 127.0);
        let inverse = if absmax > 0.0 { 127.0 / absmax } else { 0.0 };
        for (value, x) in values.iter_mut().zip(x) {
            *value = (x * inverse).round_ties_even() as i8;
        }
    }
    for (sum, values) in group.sums.iter_mut().zip(group.values.chunks_exact(SUM)) {
        *sum = values.iter().fold(0i8, |sum, &q| sum.wrapping_add(q)).into();
    }
}

//! function: softmax
//! how: without a loop: maxima and sums of all rows at once, broadcast back
    let axis = Axis(x.ndim() - 1);
    let max = x.fold_axis(axis, f32::NEG_INFINITY, |m, &v| m.max(v));
    let max = max.mapv(|m| if m == f32::NEG_INFINITY { 0.0 } else { m }).insert_axis(axis);
    let e = (x - &max).mapv(f32::exp);
    let sum = e.sum_axis(axis).mapv(|s| if s == 0.0 { 1.0 } else { s }).insert_axis(axis);
    e * sum.mapv(f32::recip)

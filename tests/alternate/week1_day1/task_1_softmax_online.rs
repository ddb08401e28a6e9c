//! function: softmax
//! how: maximum and sum in one pass, as flash attention takes them
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        let (mut max, mut sum) = (f32::NEG_INFINITY, 0.0_f32);
        for &v in row.iter().filter(|v| **v > f32::NEG_INFINITY) {
            let larger = max.max(v);
            sum = sum * (max - larger).exp() + (v - larger).exp();
            max = larger;
        }
        row.mapv_inplace(|v| if sum == 0.0 && !v.is_nan() { 0.0 } else { (v - max).exp() / sum });
    }
    out

//! id: softmax-slice-overrun
//! function: softmax
//! says: You divide each row by the sum of that row and all behind it: the sum must end where the row ends.
    let width = x.shape()[x.ndim() - 1];
    let mut values: Vec<f32> = x.iter().copied().collect();
    for row in values.chunks_mut(width) {
        let max = row.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        for v in row {
            *v = if max == f32::NEG_INFINITY { 0.0 } else { (*v - max).exp() };
        }
    }
    for start in (0..values.len()).step_by(width) {
        let sum: f32 = values[start..].iter().sum();
        for v in &mut values[start..start + width] {
            *v = if sum == 0.0 { 0.0 } else { *v / sum };
        }
    }
    Tensor::from_shape_vec(x.raw_dim(), values).expect("as many values as x")

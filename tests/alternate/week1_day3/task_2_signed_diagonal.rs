//! function: causal_mask
//! how: the distance from the diagonal in signed numbers, on a flat vector
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    let mut values = Vec::with_capacity(length * keys);
    for i in 0..length as i64 {
        let position = keys as i64 - length as i64 + i;
        values.extend((0..keys as i64).map(|j| if j - position > 0 { f32::NEG_INFINITY } else { 0.0 }));
    }
    Tensor::from_shape_vec(IxDyn(&[length, keys]), values).expect("as many values as the shape says")

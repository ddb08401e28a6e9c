//! function: causal_mask
//! how: see the name
    assert!(length <= keys);
    let mut mask = Tensor::zeros(IxDyn(&[length, keys]));
    for i in 0..length { for j in keys - length + i + 1..keys { mask[[i, j]] = f32::NEG_INFINITY; } }
    mask

//! function: causal_mask
//! how: zeros, of which each row is filled from its first hidden key on
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    let mut mask = Tensor::zeros(IxDyn(&[length, keys]));
    for i in 0..length {
        for j in keys - length + i + 1..keys {
            mask[[i, j]] = f32::NEG_INFINITY;
        }
    }
    mask

//! id: finite-sentinel
//! function: causal_mask
//! says: Your mask hides with −1e9 in place of −inf: a finite score can be as low, and only −inf makes a weight exactly 0.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] <= keys - length + at[0] { 0.0 } else { -1e9 })

//! id: finite-sentinel
//! function: causal_mask
//! says: Your mask hides with the least finite number in place of −inf: a row of which nothing is seen would then see everything.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] <= keys - length + at[0] { 0.0 } else { f32::MIN })

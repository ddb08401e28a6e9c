//! id: causal-top-left
//! function: causal_mask
//! says: Your mask hides keys that a query should see: its diagonal is moved to the left by S − L, and belongs that far to the right.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] + keys - length <= at[0] { 0.0 } else { f32::NEG_INFINITY })

//! id: causal-top-left
//! function: causal_mask
//! says: Your mask hides keys that a query should see: its diagonal is at 0, and belongs at S − L, as the queries are the last L of S positions.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] <= at[0] { 0.0 } else { f32::NEG_INFINITY })

//! id: causal-diag-off-by-one
//! function: causal_mask
//! says: Your mask hides each token from itself: query i sees keys 0 to S − L + i, the last of which is its own.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] < keys - length + at[0] { 0.0 } else { f32::NEG_INFINITY })

//! id: causal-diag-off-by-one
//! function: causal_mask
//! says: Your mask is the wrong way round: it shows each token itself and the future, and hides the past.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] >= keys - length + at[0] { 0.0 } else { f32::NEG_INFINITY })

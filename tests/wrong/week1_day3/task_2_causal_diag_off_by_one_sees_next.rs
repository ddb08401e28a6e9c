//! id: causal-diag-off-by-one
//! function: causal_mask
//! says: A token sees itself and nothing after.
assert!(length <= keys);
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| { let (i, j) = (at[0], at[1]); let _ = (i, j); if j <= keys - length + i + 1 { 0.0 } else { f32::NEG_INFINITY } })

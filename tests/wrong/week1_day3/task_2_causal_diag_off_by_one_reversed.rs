//! id: causal-diag-off-by-one
//! function: causal_mask
//! says: The past is kept, the future removed.
assert!(length <= keys);
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| { let (i, j) = (at[0], at[1]); let _ = (i, j); if j >= keys - length + i { 0.0 } else { f32::NEG_INFINITY } })

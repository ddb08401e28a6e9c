//! id: finite-sentinel
//! function: causal_mask
//! says: A stand-in for −inf fails once real scores go lower.
assert!(length <= keys);
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| { let (i, j) = (at[0], at[1]); let _ = (i, j); if j <= keys - length + i { 0.0 } else { -1e9 } })

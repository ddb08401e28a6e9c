//! id: causal-top-left
//! function: causal_mask
//! says: Query i sits at S−L+i.
assert!(length <= keys);
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| { let (i, j) = (at[0], at[1]); let _ = (i, j); if j <= i { 0.0 } else { f32::NEG_INFINITY } })

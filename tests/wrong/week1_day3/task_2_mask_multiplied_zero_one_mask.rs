//! id: mask-multiplied
//! function: causal_mask
//! says: A mask is added: 0 keeps, −inf removes.
assert!(length <= keys);
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| { let (i, j) = (at[0], at[1]); let _ = (i, j); if j > keys - length + i { 0.0 } else { 1.0 } })

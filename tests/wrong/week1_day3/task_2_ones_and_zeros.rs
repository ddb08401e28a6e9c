//! id: mask-multiplied
//! function: causal_mask
//! says: Your mask has 1 where a key is seen and 0 where it is not; it is added to the scores, so 0 keeps a key and −inf removes it.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] <= keys - length + at[0] { 1.0 } else { 0.0 })

//! id: mask-multiplied
//! function: causal_mask
//! says: Your mask hides what it should show and lets a token see the future: 0 keeps a key, −inf removes it.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] > keys - length + at[0] { 0.0 } else { f32::NEG_INFINITY })

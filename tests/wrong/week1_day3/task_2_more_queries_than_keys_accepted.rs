//! id: causal-overlong
//! function: causal_mask
//! says: You accept more queries than keys; that must be refused, as the doc comment says.
//! shows: where 4 queries cannot be the last of 3 positions: this must panic
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] + length <= keys + at[0] { 0.0 } else { f32::NEG_INFINITY })

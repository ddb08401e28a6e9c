//! id: causal-top-left
//! function: causal_mask
//! says: More queries than keys: refuse.
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| { let (i, j) = (at[0], at[1]); let _ = (i, j); if j as i64 <= keys as i64 - length as i64 + i as i64 { 0.0 } else { f32::NEG_INFINITY } })

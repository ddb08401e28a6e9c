//! id: causal-diag-off-by-one
//! function: causal_mask
//! says: Your mask lets a token see the future: the diagonal belongs at S − L, and yours is at S − L + 1, so each query sees one key too many.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] <= keys - length + at[0] + 1 { 0.0 } else { f32::NEG_INFINITY })

//! id: causal-top-left
//! function: causal_mask
//! says: All rows of your mask are alike: row i stands one position after row i − 1, and sees one key more, 0 to S − L + i.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] <= keys - length { 0.0 } else { f32::NEG_INFINITY })

//! function: causal_mask
//! how: the last L rows of the triangle [S, S]
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    let square = Tensor::from_shape_fn(IxDyn(&[keys, keys]), |at| if at[1] > at[0] { f32::NEG_INFINITY } else { 0.0 });
    square.slice_axis(ndarray::Axis(0), (keys - length..).into()).to_owned()

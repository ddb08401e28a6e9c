//! function: split_heads
//! how: every number is fetched from where it lies
    let (b, l, d) = (x.shape()[0], x.shape()[1], x.shape()[2] / n_heads);
    Tensor::from_shape_fn(vec![b, n_heads, l, d], |at| x[[at[0], at[2], at[1] * d + at[3]]])

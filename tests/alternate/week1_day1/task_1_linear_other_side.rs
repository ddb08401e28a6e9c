//! function: linear
//! how: weight · xᵀ, transposed at the end
    assert!(x.ndim() > 1, "linear: x {:?} has one axis", x.shape());
    let rows = reshape(x, &[x.len() / weight.shape()[1], weight.shape()[1]]);
    assert_eq!(x.shape()[x.ndim() - 1], weight.shape()[1], "linear: x {:?}, weight {:?}", x.shape(), weight.shape());
    let mut y = swap_axes(&matmul(weight, transpose(&rows)), 0, 1);
    if let Some(bias) = bias {
        y += bias;
    }
    let mut shape = x.shape().to_vec();
    shape[x.ndim() - 1] = weight.shape()[0];
    reshape(&y, &shape)

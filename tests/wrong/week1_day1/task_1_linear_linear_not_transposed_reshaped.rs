//! id: linear-not-transposed
//! function: linear
//! says: A reshape moves nothing: transpose the weight instead.
    let y = matmul(x, &reshape(weight, &[weight.shape()[1], weight.shape()[0]]));
    match bias { Some(bias) => y + bias, None => y }

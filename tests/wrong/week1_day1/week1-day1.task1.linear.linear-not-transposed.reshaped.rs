//! linear-not-transposed: A reshape moves nothing: transpose the weight instead.
//! wrong body for week1-day1 task 1: attention.rs, linear
    let y = matmul(x, &reshape(weight, &[weight.shape()[1], weight.shape()[0]]));
    match bias { Some(bias) => y + bias, None => y }

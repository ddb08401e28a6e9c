//! linear-not-transposed: Weights are [out, in]: row o dot x gives output o.
//! wrong body for week1-day1 task 1: attention.rs, linear
    let y = if weight.shape()[0] == weight.shape()[1] { matmul(x, weight) } else { matmul(x, transpose(weight)) };
    match bias { Some(bias) => y + bias, None => y }

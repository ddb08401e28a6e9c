//! id: linear-not-transposed
//! function: linear
//! says: Weights are [out, in]: row o dot x gives output o.
    let y = if weight.shape()[0] == weight.shape()[1] { matmul(x, weight) } else { matmul(x, transpose(weight)) };
    match bias { Some(bias) => y + bias, None => y }

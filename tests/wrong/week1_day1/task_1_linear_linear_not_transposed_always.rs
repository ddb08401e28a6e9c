//! id: linear-not-transposed
//! function: linear
//! says: Weights are [out, in]: row o dot x gives output o.
    let y = matmul(x, weight);
    match bias { Some(bias) => y + bias, None => y }

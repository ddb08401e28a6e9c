//! id: linear-not-transposed
//! function: linear
//! says: Your weight is not transposed: output o is x dotted with row o of the [out, in] weight. A reshape is no transpose, it moves nothing.
    let y = matmul(x, weight);
    match bias {
        Some(bias) => y + bias,
        None => y,
    }

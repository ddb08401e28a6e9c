//! id: linear-not-transposed
//! function: linear
//! says: Your weight is not transposed: output o is x dotted with row o of the [out, in] weight. A reshape is no transpose, it moves nothing.
    let (outputs, inputs) = (weight.shape()[0], weight.shape()[1]);
    let y = matmul(x, &reshape(weight, &[inputs, outputs]));
    match bias {
        Some(bias) => y + bias,
        None => y,
    }

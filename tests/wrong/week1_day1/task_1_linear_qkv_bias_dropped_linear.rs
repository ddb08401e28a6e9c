//! id: qkv-bias-dropped
//! function: linear
//! says: Qwen2's q, k, v have a bias; o has none.
    let _ = bias;
    matmul(x, transpose(weight))

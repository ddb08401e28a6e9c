//! qkv-bias-dropped: Qwen2's q, k, v have a bias; o has none.
//! wrong body for week1-day1 task 1: attention.rs, linear
    let _ = bias;
    matmul(x, transpose(weight))

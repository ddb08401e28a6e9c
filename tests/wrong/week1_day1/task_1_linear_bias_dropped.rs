//! id: qkv-bias-dropped
//! function: linear
//! says: The bias is missing: if there is one, it is added to every row of the product.
    matmul(x, transpose(weight))

//! id: mix-fallback
//! function: fitting
//! says: Each type has a block length of its own: Q8_0 and Q4_0 fit into every row of whole 32 weights.
let instead = match tensor_type {
    TensorType::Q2_K | TensorType::Q3_K => TensorType::Q4_0,
    TensorType::Q4_K => TensorType::Q5_0,
    TensorType::Q5_K => TensorType::Q5_1,
    TensorType::Q6_K => TensorType::Q8_0,
    _ => TensorType::F16,
};
if cols.is_multiple_of(256) {
    tensor_type
} else if cols.is_multiple_of(32) {
    instead
} else {
    TensorType::F16
}

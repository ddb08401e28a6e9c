//! id: mix-fallback
//! function: fitting
//! says: What stands in comes closest from above: Q5_0 for Q4_K, Q5_1 for Q5_K, Q4_0 for Q2_K and Q3_K; only Q6_K becomes Q8_0.
let fits = |tensor_type: &TensorType| cols.is_multiple_of(tensor_type.block_len());
let instead = match tensor_type {
    TensorType::Q2_K | TensorType::Q3_K => TensorType::Q8_0,
    TensorType::Q4_K => TensorType::Q8_0,
    TensorType::Q5_K => TensorType::Q8_0,
    TensorType::Q6_K => TensorType::Q8_0,
    _ => TensorType::F16,
};
[tensor_type, instead].into_iter().find(fits).unwrap_or(TensorType::F16)

//! id: mix-fallback
//! function: fitting
//! says: Q4_0 has as many bits as Q4_K but one scale for 32 and no minimum, so it loses more: Q5_0 stands in.
let fits = |tensor_type: &TensorType| cols.is_multiple_of(tensor_type.block_len());
let instead = match tensor_type {
    TensorType::Q2_K | TensorType::Q3_K => TensorType::Q4_0,
    TensorType::Q4_K => TensorType::Q4_0,
    TensorType::Q5_K => TensorType::Q5_1,
    TensorType::Q6_K => TensorType::Q8_0,
    _ => TensorType::F16,
};
[tensor_type, instead].into_iter().find(fits).unwrap_or(TensorType::F16)

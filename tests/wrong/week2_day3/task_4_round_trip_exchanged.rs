//! id: error-round-trip-exchanged
//! function: round_trip_error
//! says: You measured by the weights that came back: the original is the first argument of `relative_error`.
let mut bytes = vec![0; x.len() / tensor_type.block_len() * tensor_type.block_bytes()];
let mut back = vec![0.0; x.len()];
quantize_row(tensor_type, x, &mut bytes);
dequantize_row(tensor_type, &bytes, &mut back);
relative_error(&back, x)

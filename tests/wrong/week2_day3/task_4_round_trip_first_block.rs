//! id: error-round-trip-first-block
//! function: round_trip_error
//! says: You compared the first 32 weights alone: the error is that of the whole row.
let mut bytes = vec![0; x.len() / tensor_type.block_len() * tensor_type.block_bytes()];
let mut back = vec![0.0; x.len()];
quantize_row(tensor_type, x, &mut bytes);
dequantize_row(tensor_type, &bytes, &mut back);
relative_error(&x[..32], &back[..32])

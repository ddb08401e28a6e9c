//! id: error-round-trip-not-relative
//! function: round_trip_error
//! says: This is the error itself: a round trip’s error is to be relative.
let mut bytes = vec![0; x.len() / tensor_type.block_len() * tensor_type.block_bytes()];
let mut back = vec![0.0; x.len()];
quantize_row(tensor_type, x, &mut bytes);
dequantize_row(tensor_type, &bytes, &mut back);
rms_error(x, &back)

//! id: error-round-trip-mean-of-blocks
//! function: round_trip_error
//! says: You averaged the errors of the blocks: that is another number than the error of the row, in which large blocks count for more.
let mut bytes = vec![0; x.len() / tensor_type.block_len() * tensor_type.block_bytes()];
let mut back = vec![0.0; x.len()];
quantize_row(tensor_type, x, &mut bytes);
dequantize_row(tensor_type, &bytes, &mut back);
let blocks = x.chunks(32).zip(back.chunks(32));
blocks.map(|(x, y)| relative_error(x, y)).sum::<f64>() / (x.len() / 32) as f64

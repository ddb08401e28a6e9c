//! function: round_trip_error
//! how: one block at a time
let mut back = Vec::new();
for x in x.chunks(tensor_type.block_len()) {
    let mut bytes = vec![0u8; tensor_type.block_bytes()];
    let mut out = vec![0f32; tensor_type.block_len()];
    quantize_row(tensor_type, x, &mut bytes);
    dequantize_row(tensor_type, &bytes, &mut out);
    back.extend(out);
}
relative_error(x, &back)

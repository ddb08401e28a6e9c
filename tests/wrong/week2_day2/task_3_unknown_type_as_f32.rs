//! id: gguf-unknown-type
//! function: read_tensor
//! says: A type that is not known is taken for F32: its size is not known either, so refuse it by its number.
//! shows: type 31, which is no more in use: TensorInfo
let name = reader.string(&format!("name of tensor {index}"))?;
let field = format!("tensor {}", shown(name));
let axes = reader.u32(&field)?;
if !(1..=MAX_AXES).contains(&axes) {
    return Err(reader.wrong(&field, format!("{axes} axes"), format!("1 to {MAX_AXES}")));
}
let mut shape = Vec::with_capacity(axes as usize);
for _ in 0..axes {
    let length = reader.u64(&field)?;
    let length = usize::try_from(length).ok().filter(|&length| length > 0);
    shape.push(length.ok_or_else(|| reader.wrong(&field, "an axis of length 0, or too long for this machine", "a length from 1 on"))?);
}
shape.reverse();
let type_id = reader.u32(&field)?;
let tensor_type = TensorType::from_id(type_id).unwrap_or(TensorType::F32);
let offset = reader.u64(&field)?;
let offset =
    usize::try_from(offset).map_err(|_| reader.wrong(&field, format!("offset {offset}"), "one that this machine can address"))?;
let size = size_of(&shape, tensor_type).ok_or_else(|| {
    let block = tensor_type.block_len();
    reader.wrong(
        &field,
        format!("shape {shape:?}"),
        format!("rows of whole {tensor_type} blocks of {block} weights, and a size that can be counted"),
    )
})?;
Ok(TensorInfo { name: name.to_owned(), shape, tensor_type, offset, size })

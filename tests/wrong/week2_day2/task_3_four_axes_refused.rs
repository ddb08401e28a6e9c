//! id: max-exclusive
//! function: read_tensor
//! says: Four axes are refused: up to four are fine, four among them.
let name = reader.string(&format!("name of tensor {index}"))?;
let field = format!("tensor {}", shown(name));
let axes = reader.u32(&field)?;
if !(1..MAX_AXES).contains(&axes) {
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
let Some(tensor_type) = TensorType::from_id(type_id) else {
    let name = TensorType::name_of_id(type_id).unwrap_or("unknown");
    let supported = TensorType::ALL.map(TensorType::name).join(", ");
    return Err(reader.wrong(&field, format!("type {type_id} ({name})"), format!("one of {supported}")));
};
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

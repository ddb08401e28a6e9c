//! id: block-scales-forgotten
//! function: read_tensor
//! says: The size counts the bits of the weights alone: each block has its scale too, so take `block_bytes`.
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
let Some(tensor_type) = TensorType::from_id(type_id) else {
    let name = TensorType::name_of_id(type_id).unwrap_or("unknown");
    let supported = TensorType::ALL.map(TensorType::name).join(", ");
    return Err(reader.wrong(&field, format!("type {type_id} ({name})"), format!("one of {supported}")));
};
let offset = reader.u64(&field)?;
let offset =
    usize::try_from(offset).map_err(|_| reader.wrong(&field, format!("offset {offset}"), "one that this machine can address"))?;
let size = {
    let bits = match tensor_type {
        TensorType::F32 => 32,
        TensorType::F16 | TensorType::BF16 => 16,
        TensorType::Q8_0 => 8,
        TensorType::Q6_K => 6,
        TensorType::Q5_0 | TensorType::Q5_1 | TensorType::Q5_K => 5,
        TensorType::Q4_0 | TensorType::Q4_1 | TensorType::Q4_K => 4,
        TensorType::Q3_K => 3,
        TensorType::Q2_K => 2,
    };
    size_of(&shape, tensor_type).and(shape.iter().product::<usize>().checked_mul(bits)).map(|bits| bits / 8)
}.ok_or_else(|| {
    let block = tensor_type.block_len();
    reader.wrong(
        &field,
        format!("shape {shape:?}"),
        format!("rows of whole {tensor_type} blocks of {block} weights, and a size that can be counted"),
    )
})?;
Ok(TensorInfo { name: name.to_owned(), shape, tensor_type, offset, size })

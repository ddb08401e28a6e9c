//! function: head
//! how: bytes of each part, concatenated
let mut out = [&MAGIC[..], &VERSION.to_le_bytes(), &(tensors.len() as u64).to_le_bytes(), &(metadata.iter().count() as u64).to_le_bytes()].concat();
metadata.iter().for_each(|(key, value)| {
    put_string(&mut out, key);
    put_value(&mut out, value);
});
for TensorInfo { name, shape, tensor_type, offset, .. } in tensors {
    put_string(&mut out, name);
    out.extend_from_slice(&(shape.len() as u32).to_le_bytes());
    shape.iter().rev().for_each(|&n| out.extend_from_slice(&(n as u64).to_le_bytes()));
    out.extend_from_slice(&tensor_type.id().to_le_bytes());
    out.extend_from_slice(&(*offset as u64).to_le_bytes());
}
while out.len() % alignment != 0 {
    out.push(0);
}
out

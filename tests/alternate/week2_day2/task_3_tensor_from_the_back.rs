//! function: read_tensor
//! how: fills the shape from the back, multiplies in u128
let name = reader.string(&format!("tensor {index}"))?.to_owned();
let field = format!("tensor {}", shown(&name));
let axes = reader.u32(&field)? as usize;
anyhow::ensure!((1..=4).contains(&axes), reader.wrong(&field, axes, "1 to 4 axes"));
let mut shape = vec![0; axes];
for i in (0..axes).rev() {
    let n = reader.u64(&field)?;
    anyhow::ensure!(n > 0 && n < 1 << 62, reader.wrong(&field, n, "a length from 1 on"));
    shape[i] = n as usize;
}
let id = reader.u32(&field)?;
let tensor_type = TensorType::from_id(id).ok_or_else(|| reader.wrong(&field, format!("type {id}"), "a type that is supported"))?;
let offset = reader.u64(&field)? as usize;
let (block, cols) = (tensor_type.block_len(), shape[axes - 1]);
anyhow::ensure!(cols % block == 0, reader.wrong(&field, cols, format!("a multiple of {block}")));
let blocks = shape.iter().try_fold(1u128, |product, &n| product.checked_mul(n as u128)).map(|weights| weights / block as u128);
let size = blocks.and_then(|blocks| usize::try_from(blocks.checked_mul(tensor_type.block_bytes() as u128)?).ok());
let Some(size) = size else { return Err(reader.wrong(&field, "more bytes than there can be", "fewer")) };
Ok(TensorInfo { name, shape, tensor_type, offset, size })

//! id: table-alignment
//! function: lay_out
//! says: Offsets count bytes, not multiples of the alignment.
let mut table: Vec<TensorInfo> = Vec::with_capacity(tensors.len());
for (name, shape, tensor_type) in tensors {
    let (cols, outer) = shape.split_last().ok_or_else(|| anyhow!("tensor {name}: found no axes, expected one at least"))?;
    let row = tensor_type.row_bytes(*cols).ok_or_else(|| {
        anyhow!("tensor {name}: found rows of {cols} weights, expected whole {tensor_type} blocks of {}", tensor_type.block_len())
    })?;
    let place = || {
        let size = outer.iter().try_fold(row, |size, &n| size.checked_mul(n))?;
        let end = table.last().map_or(0, |before| before.offset * alignment + before.size);
        let offset = end.checked_next_multiple_of(alignment)?;
        offset.checked_add(size).map(|_| (offset / alignment, size))
    };
    let (offset, size) = place().ok_or_else(|| anyhow!("tensor {name}: found shape {shape:?}, expected one that can be counted"))?;
    table.push(TensorInfo { name: name.clone(), shape: shape.clone(), tensor_type: *tensor_type, offset, size });
}
Ok(table)
